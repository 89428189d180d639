;;; Edits buffers as a user does, and writes what the mode line says; run by test_emacs.py.
;;; -*- lexical-binding: t -*-

(require 'compat-bpe)
(require 'json)

;; An answer may take long where much else runs; what is tested is the answer.
(setq jrpc-default-request-timeout 120)

(defvar written (make-hash-table :test #'equal))

(defun test-wait (what ready)
  "Wait until READY returns non-nil; WHAT is waited for."
  (let ((until (+ (float-time) 120)))
    (while (not (funcall ready))
      (when (> (float-time) until)
        (error "Waited in vain: %s; the mode line has %S" what (compat-bpe-mode-line)))
      (accept-process-output nil 0.01)
      (sit-for 0.01))))

(defun test-status (status)
  "Wait until the mode line has STATUS."
  (test-wait status (lambda () (equal (string-trim (compat-bpe-mode-line)) status))))

(defun test-note (name value)
  "Write VALUE as NAME."
  (puthash name value written))

(defun test-count ()
  "Return the text of the buffer, the count asked for, and the mode line when it has this count."
  (let ((count (compat-bpe-count)))
    (test-status (format (if (= count 1) "%d token" "%d tokens") count))
    (save-restriction
      (widen)
      (vector (compat-bpe--text (point-min) (point-max)) count))))

(defun test-pid ()
  "Return the process of the server."
  (process-id (jsonrpc--process compat-bpe--server)))

(defun test-run (name)
  "Run the test NAME and write its results as JSON."
  (condition-case failure
      (funcall (intern name))
    (error (test-note "failed" (format "%S" failure))))
  (let ((coding-system-for-write 'utf-8-unix))
    (with-temp-file (getenv "TEST_OUTPUT")
      (insert (json-encode written))))
  (let ((kill-emacs-hook nil)) (kill-emacs 0)))

(defun test-typing ()
  "Edit a file in the ways that Emacs has."
  (global-compat-bpe-mode 1)
  (find-file (getenv "TEST_FILE"))
  (let ((steps
         (list
          (lambda () (insert "from os import path\n"))
          (lambda () (goto-char (point-max)) (insert "😀 中文 ḗ"))
          (lambda () (delete-char -1) (delete-char -1))
          (lambda () (undo-boundary) (setq last-command nil) (undo))
          (lambda () (goto-char (point-min)) (while (search-forward "r" nil t) (replace-match "é")))
          (lambda () (kill-whole-line -2))
          (lambda () (yank) (yank))
          (lambda () (upcase-region (point-min) (point-max)))
          (lambda () (sort-lines t (point-min) (point-max)))
          (lambda () (transpose-lines 1))
          (lambda () (narrow-to-region 10 30) (goto-char (point-min)) (insert "in\nit") (upcase-word 1))
          (lambda () (widen))
          (lambda () (indent-region (point-min) (point-max)))
          (lambda () (fill-region (point-min) (point-max)))
          (lambda () (subst-char-in-region (point-min) (point-max) ?a ?b))
          (lambda () (delete-region 5 (- (point-max) 5)))
          (lambda () (insert "a\rb\rc\n") (goto-char 3) (insert "x"))
          (lambda () (erase-buffer))
          (lambda () (insert "last 😀\n\n")))))
    (test-note "texts"
               (vconcat (cons (progn (test-wait "start" (lambda () compat-bpe--told)) (test-count))
                              (mapcar (lambda (step) (funcall step) (test-count)) steps))))
    (set-visited-file-name (concat (getenv "TEST_FILE") ".other"))
    (insert "more")
    (test-note "renamed" (test-count))
    (fundamental-mode)
    (text-mode)
    (insert "x")
    (test-count)
    (delete-char -1)
    (save-buffer)
    (revert-buffer t t)
    (test-note "reverted" (test-count))))

(defun test-prompts ()
  "Copy prompts, change settings."
  (setq compat-bpe-highlight t)
  (with-temp-buffer
    (rename-buffer "of no file")
    (text-mode)
    (insert "one two three\nfour five six 😀 seven\n")
    (goto-char 5)
    (compat-bpe-mode 1)
    (test-wait "start" (lambda () compat-bpe--told))
    (compat-bpe-copy-prompt 25)
    (test-note "prompt" (current-kill 0))
    (test-note "region" (compat-bpe-count 1 8))
    (compat-bpe-set-budget 4)
    (test-wait "budget" (lambda () (overlayp compat-bpe--overlay)))
    (test-note "over" (vector (overlay-start compat-bpe--overlay)
                              (string-trim (substring-no-properties (compat-bpe-mode-line)))
                              (symbol-name (get-text-property 0 'face (compat-bpe-mode-line)))))
    (compat-bpe-set-budget nil)
    (compat-bpe-set-model "gpt-4")
    (test-wait "model" (lambda () (equal (plist-get compat-bpe--told :encoding) "cl100k_base")))
    (compat-bpe-set-model "gpt2")
    (test-wait "encoding" (lambda () (equal (plist-get compat-bpe--told :encoding) "gpt2")))
    (test-note "gpt2" (plist-get compat-bpe--told :count))
    (test-note "refused" (condition-case failure (compat-bpe-set-model "qwen3")
                           (user-error (vector (cadr failure) compat-bpe-encoding))))
    (test-note "failure" (condition-case failure (compat-bpe-copy-prompt 3)
                           (user-error (cadr failure))))
    (compat-bpe-mode -1)
    (test-note "off" (compat-bpe-mode-line))))

(defun test-complete ()
  "Note what completes the name of a model, and choose one."
  (global-compat-bpe-mode 1)
  (find-file (getenv "TEST_FILE"))
  (test-wait "start" (lambda () (and compat-bpe--told compat-bpe--names)))
  (let ((completing-read-function
         (lambda (_prompt table &rest _)
           (dolist (typed '("claude-s" "gpt-4o-mini" "cl1" "sonnet" "Qwen"))
             (let ((found (completion-all-completions typed table nil (length typed))))
               (when (consp found)
                 (setcdr (last found) nil))  ; where the completed part begins
               (test-note typed (vconcat (mapcar #'substring-no-properties found)))))
           (test-note "said" (mapcar (plist-get completion-extra-properties :annotation-function)
                                     '("claude-sonnet-4-5" "gpt-4o" "cl100k_base")))
           "gpt-4")))
    (call-interactively #'compat-bpe-set-model))
  (test-wait "model" (lambda () (equal (plist-get compat-bpe--told :encoding) "cl100k_base"))))

(defun test-ends ()
  "Let the server end."
  (global-compat-bpe-mode 1)
  (find-file (getenv "TEST_FILE"))
  (insert "one two ")
  (test-status "7 tokens")
  (signal-process (test-pid) 'SIGKILL)
  (test-status "")
  (insert "three ")
  (sit-for 0.3)
  (test-note "after" (compat-bpe-mode-line))
  (compat-bpe-restart)
  (test-status "8 tokens")
  ;; Later, an edit starts it again.
  (signal-process (test-pid) 'SIGKILL)
  (test-status "")
  (setq compat-bpe--started 0)
  (insert "four ")
  (test-status "9 tokens")
  ;; One that has run for long is started again at once.
  (setq compat-bpe--started 0)
  (let ((pid (test-pid)))
    (signal-process pid 'SIGKILL)
    (test-wait "another one" (lambda () (and compat-bpe--is-ready (/= pid (test-pid)))))
    (test-status "9 tokens"))
  ;; A count that is not current is marked.
  (signal-process (test-pid) 'SIGSTOP)
  (insert "five ")
  (test-status "~9 tokens")
  (signal-process (test-pid) 'SIGCONT)
  (test-status "10 tokens"))

(defun test-missing ()
  "Work without the command; then it is installed."
  (global-compat-bpe-mode 1)
  (find-file (getenv "TEST_FILE"))
  (insert "x")
  (find-file (concat (getenv "TEST_FILE") ".other"))
  (test-note "said" (with-current-buffer "*Messages*"
                      (buffer-substring-no-properties (point-min) (point-max))))
  (test-note "failure" (condition-case failure (compat-bpe-copy-prompt)
                         (user-error (cadr failure))))
  (setq compat-bpe-command (split-string (getenv "TEST_COMMAND") "\n"))
  (compat-bpe-restart)
  (insert "one two")
  (test-status "2 tokens"))

(defun test-found ()
  "Note the command that is found."
  (global-compat-bpe-mode 1)
  (find-file (getenv "TEST_FILE"))
  (insert "one two")
  (test-status "2 tokens")
  (test-note "found" (vconcat (compat-bpe--find-command))))

(defun test-flymake ()
  "Note the diagnostic of the budget."
  (flymake-mode 1)
  (test-wait "a diagnostic" (lambda () (flymake-diagnostics)))
  (let ((found (car (flymake-diagnostics))))
    (test-note "diagnostic" (flymake-diagnostic-text found))
    (test-note "range" (vector (flymake-diagnostic-beg found) (flymake-diagnostic-end found)))))

(defun test-eglot ()
  "Use Eglot with what docs/editors.md has for it."
  (require 'eglot)
  (load (getenv "TEST_EXAMPLE"))
  (find-file (getenv "TEST_FILE"))
  (apply #'eglot (eglot--guess-contact))
  (test-wait "connected" #'eglot-current-server)
  (test-flymake)
  (test-note "actions"
             (vconcat (mapcar (lambda (one) (plist-get one :title))
                              (eglot-code-actions (point-min) (point-max)))))
  (test-note "shown"
             (plist-get (plist-get (jsonrpc-request (eglot-current-server) :textDocument/hover
                                                    (eglot--TextDocumentPositionParams))
                                   :contents)
                        :value)))

(defun test-lsp-mode ()
  "Use lsp-mode with what docs/editors.md has for it."
  (require 'lsp-mode)
  (require 'lsp-lens)
  (load (getenv "TEST_EXAMPLE"))
  (setq lsp-auto-guess-root t lsp-lens-debounce-interval 0 lsp-diagnostics-provider :flymake)
  (find-file (getenv "TEST_FILE"))
  (lsp)
  (test-wait "connected" (lambda () (and (lsp-workspaces) (lsp--capability :codeLensProvider))))
  (test-flymake)
  (lsp-lens-mode 1)
  (test-wait "a lens" (lambda () lsp-lens--overlays))
  (set-mark (point-max))
  (goto-char (point-min))
  (let ((transient-mark-mode t) (mark-active t))
    (test-note "actions"
               (vconcat (mapcar (lambda (one) (gethash "title" one)) (lsp-code-actions-at-point)))))
  (test-note "shown" (mapconcat (lambda (one) (format "%s" (overlay-properties one)))
                                lsp-lens--overlays " ")))
