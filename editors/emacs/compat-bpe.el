;;; compat-bpe.el --- Exact counts of tokens, and prompts that fit  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, convenience
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `global-compat-bpe-mode' shows in the mode line how many tokens a buffer has by the tokenizer of
;; a model.  `compat-bpe-copy-prompt' copies as much text around point as fits.  The counts are
;; those of the language server "compat-bpe lsp"; it runs beside Eglot or lsp-mode, which have one
;; server for a language, and needs neither.

;;; Code:

(require 'jsonrpc)
(require 'subr-x)
(require 'url-util)

(defgroup compat-bpe nil
  "Exact counts of tokens, and prompts that fit."
  :group 'tools)

(defcustom compat-bpe-command nil
  "The command that starts the server, a list of strings.
If it is nil, Emacs looks for the command."
  :type '(choice (const :tag "Look for it" nil) (repeat string)))

(defcustom compat-bpe-model nil
  "The model to count for, such as \"gpt-4o\"."
  :type '(choice (const :tag "None" nil) string))

(defcustom compat-bpe-encoding nil
  "The encoding to count by, such as \"cl100k_base\", without a model."
  :type '(choice (const :tag "The default, o200k_base" nil) string))

(defcustom compat-bpe-budget nil
  "The number of tokens that a buffer should not exceed."
  :type '(choice (const :tag "None" nil) natnum))

(defcustom compat-bpe-settings nil
  "More settings of the server, a plist; docs/guide-editors.md lists them."
  :type 'plist)

(defcustom compat-bpe-prompt-limit 2000
  "The most tokens of a prompt."
  :type 'natnum)

(defcustom compat-bpe-highlight nil
  "If non-nil, highlight the text past the budget.
The face is `compat-bpe-past-budget'."
  :type 'boolean)

(defface compat-bpe-past-budget '((t :inherit shadow))
  "Face of the text past the budget.")

(defvar compat-bpe-mode)
(defvar compat-bpe--server nil "The connection to the server; nil if there is none.")
(defvar compat-bpe--is-ready nil "Non-nil when the server has answered for the first time.")
(defvar compat-bpe--started 0 "The time of the last start.")
(defvar compat-bpe--has-failed nil "Non-nil after an end; an edit starts the server again.")
(defvar compat-bpe--names nil "The models and encodings that the server knows, for completion.")
(defvar compat-bpe--untitled 0 "The number of buffers without a file so far.")

(defvar-local compat-bpe--uri nil "The URI of the buffer; nil if the server does not know it.")
(defvar-local compat-bpe--told nil "What the server has told of the buffer last.")
(defvar-local compat-bpe--version 0 "The number of changes of the buffer.")
(defvar-local compat-bpe--changed 0 "The time of the last change.")
(defvar-local compat-bpe--changes nil "Changes to be sent, the last one first; or t for all text.")
(defvar-local compat-bpe--has-other-lines nil "Non-nil if the server's text has other lines.")
(defvar-local compat-bpe--before nil "A change that is being made: its places.")
(defvar-local compat-bpe--timer nil "The timer that sends changes.")
(defvar-local compat-bpe--overlay nil "The highlight of what is past the budget.")

(defconst compat-bpe--short 10
  "The seconds for which a server must have run to be started again by itself.")

;;; The text, as the server gets it

(defun compat-bpe--text (beg end)
  "Return the text from BEG to END with the ends of lines that the file has."
  (let ((text (replace-regexp-in-string "[^\0-\x10ffff]" "\ufffd"
                                        (buffer-substring-no-properties beg end) t t)))
    (if (eql (coding-system-eol-type buffer-file-coding-system) 1)
        (string-replace "\n" "\r\n" text)
      text)))

(defun compat-bpe--place (position)
  "Return POSITION as a line and a column in characters."
  (save-excursion
    (goto-char position)
    (let ((inhibit-field-text-motion t))
      (list :line (1- (line-number-at-pos nil t))
            :character (- position (line-beginning-position))))))

(defun compat-bpe--position (place)
  "Return the position in the buffer of PLACE."
  (save-excursion
    (goto-char (point-min))
    (forward-line (plist-get place :line))
    (min (line-end-position) (+ (point) (plist-get place :character)))))

(defun compat-bpe--range (beg end)
  "Return the range from BEG to END."
  (save-restriction
    (widen)
    (list :start (compat-bpe--place beg) :end (compat-bpe--place end))))

(defun compat-bpe--has-other-lines-p ()
  "Return non-nil if the server has more lines than Emacs.
For the server, a carriage return ends a line, too."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-min))
      (search-forward "\r" nil t))))

(defun compat-bpe--before-change (beg end)
  "Note the places of BEG and END, which a change is about to replace."
  (when (and compat-bpe--uri (listp compat-bpe--changes))
    (setq compat-bpe--before (list beg (- end beg) (compat-bpe--range beg end)))))

(defun compat-bpe--after-change (beg end length)
  "Note that LENGTH characters were replaced by the text from BEG to END."
  (setq compat-bpe--version (1+ compat-bpe--version)
        compat-bpe--changed (float-time))
  (cond
   (compat-bpe--uri
    (when (listp compat-bpe--changes)
      (pcase compat-bpe--before
        (`(,(pred (eql beg)) ,(pred (eql length)) ,range)
         (push (list :range range :text (save-restriction (widen) (compat-bpe--text beg end)))
               compat-bpe--changes))
        ;; Emacs does not tell of all changes one by one.
        (_ (setq compat-bpe--changes t))))
    (setq compat-bpe--before nil)
    (unless (timerp compat-bpe--timer)
      (setq compat-bpe--timer
            (run-with-timer 0.05 nil #'compat-bpe--flush (current-buffer)))))
   ((and compat-bpe--has-failed
         (> (- (float-time) compat-bpe--started) compat-bpe--short))
    (compat-bpe-restart))))

(defun compat-bpe--flush (&optional buffer)
  "Send the edits of BUFFER."
  (when (buffer-live-p (or buffer (setq buffer (current-buffer))))
    (with-current-buffer buffer
      (when (timerp compat-bpe--timer)
        (cancel-timer compat-bpe--timer))
      (setq compat-bpe--timer nil)
      (cond
       ((not (and compat-bpe--uri compat-bpe--changes)))
       ;; A process that is stopped takes nothing; one that has just ended is told of soon.
       ((not (eq (process-status (jsonrpc--process compat-bpe--server)) 'run))
        (setq compat-bpe--timer (run-with-timer 0.5 nil #'compat-bpe--flush buffer)))
       (t
        (when (or compat-bpe--has-other-lines (compat-bpe--has-other-lines-p))
          (setq compat-bpe--changes t))
        (jsonrpc-notify
         compat-bpe--server :textDocument/didChange
         (list :textDocument (list :uri compat-bpe--uri :version compat-bpe--version)
               :contentChanges
               (if (listp compat-bpe--changes)
                   (vconcat (reverse compat-bpe--changes))
                 (save-restriction
                   (widen)
                   (vector (list :text (compat-bpe--text (point-min) (point-max))))))))
        (setq compat-bpe--changes nil
              compat-bpe--has-other-lines (compat-bpe--has-other-lines-p)))))))

(defun compat-bpe--open ()
  "Have the buffer counted."
  (when (and compat-bpe--is-ready (not compat-bpe--uri))
    (setq compat-bpe--uri
          (if buffer-file-name
              (concat "file://" (url-hexify-string (expand-file-name buffer-file-name)
                                                   url-path-allowed-chars))
            (format "untitled:Untitled-%d" (setq compat-bpe--untitled (1+ compat-bpe--untitled))))
          compat-bpe--changes nil
          compat-bpe--has-other-lines (compat-bpe--has-other-lines-p))
    (jsonrpc-notify
     compat-bpe--server :textDocument/didOpen
     (list :textDocument
           (list :uri compat-bpe--uri
                 :languageId (string-remove-suffix "-mode" (symbol-name major-mode))
                 :version compat-bpe--version
                 :text (save-restriction
                         (widen)
                         (compat-bpe--text (point-min) (point-max))))))))

(defun compat-bpe--forget ()
  "Forget what the server has told of the buffer."
  (setq compat-bpe--uri nil compat-bpe--told nil compat-bpe--changes nil)
  (compat-bpe--highlight)
  (force-mode-line-update))

(defun compat-bpe--close ()
  "No longer have the buffer counted."
  (when compat-bpe--uri
    (let ((uri compat-bpe--uri))
      (compat-bpe--forget)
      (jsonrpc-notify compat-bpe--server :textDocument/didClose
                      (list :textDocument (list :uri uri))))))

(defun compat-bpe--reopen ()
  "Have the buffer counted under its new name."
  (when (and compat-bpe-mode compat-bpe--uri)
    (compat-bpe--close)
    (compat-bpe--open)))

;;; The server

(defun compat-bpe--buffers ()
  "Return the buffers that are counted."
  (seq-filter (lambda (buffer) (buffer-local-value 'compat-bpe-mode buffer)) (buffer-list)))

(defconst compat-bpe--from-folder
  (concat "import runpy, sys; sys.path[0] = sys.argv[1]; "
          "runpy.run_module('compat_bpe.lsp', run_name='__main__')")
  "Runs the server of a folder that is not installed.")

(defconst compat-bpe--repository
  (expand-file-name "../.." (file-name-directory (or load-file-name buffer-file-name)))
  "The repository that this package is a folder of, perhaps.")

(defun compat-bpe--find-command ()
  "Return the command of the server; nil if there is none."
  (let ((default-directory (expand-file-name "~/")))
    (cond
     (compat-bpe-command)
     ((executable-find "compat-bpe") (list "compat-bpe" "lsp"))
     ((seq-some
       (lambda (python)
         (when (executable-find python)
           (cond
            ((eql 0 (call-process python nil nil nil "-c" "import compat_bpe.lsp"))
             (list python "-m" "compat_bpe" "lsp"))
            ((and (file-exists-p (expand-file-name "compat_bpe/lsp/__main__.py"
                                                   compat-bpe--repository))
                  (eql 0 (call-process python nil nil nil "-c"
                                       "import sys; sys.exit(sys.version_info < (3, 9))")))
             (list python "-c" compat-bpe--from-folder compat-bpe--repository)))))
       '("python3" "python" "py"))))))

(defun compat-bpe--all-settings ()
  "Return the settings as they are sent."
  (append
   (cond (compat-bpe-model (list :model compat-bpe-model))
         (compat-bpe-encoding (list :encoding compat-bpe-encoding)))
   (when compat-bpe-budget (list :budget compat-bpe-budget))
   compat-bpe-settings
   ;; The mode line and the highlight show the same.
   (unless (plist-member compat-bpe-settings :show)
     (list :show (list :diagnostics :json-false)))))

(defun compat-bpe--told (_server method params)
  "Take a notification of METHOD with PARAMS."
  (pcase method
    ('compatBpe/didCount
     (dolist (buffer (compat-bpe--buffers))
       (with-current-buffer buffer
         (when (equal compat-bpe--uri (plist-get params :uri))
           (setq compat-bpe--told params)
           (compat-bpe--highlight)
           (force-mode-line-update)))))
    ('window/showMessage (message "%s" (plist-get params :message)))))

(defun compat-bpe--ended (server)
  "Hide all counts, since SERVER has ended."
  (when (eq server compat-bpe--server)
    (setq compat-bpe--server nil compat-bpe--is-ready nil)
    (dolist (buffer (compat-bpe--buffers))
      (with-current-buffer buffer (compat-bpe--forget)))
    (if (> (- (float-time) compat-bpe--started) compat-bpe--short)
        (compat-bpe--start)
      (setq compat-bpe--has-failed t)
      (message "compat-bpe: the server ended; M-x compat-bpe-restart restarts it"))))

(defun compat-bpe--ready ()
  "Begin the work with a server that has answered."
  (jsonrpc-notify compat-bpe--server :initialized (make-hash-table))
  (setq compat-bpe--is-ready t)
  (jsonrpc-async-request
   compat-bpe--server :compatBpe/names (make-hash-table)
   :success-fn (lambda (names) (setq compat-bpe--names names)))
  (dolist (buffer (compat-bpe--buffers))
    (with-current-buffer buffer (compat-bpe--open))))

(defun compat-bpe--start ()
  "Start the server, unless there is one or it has failed."
  (unless (or compat-bpe--server compat-bpe--has-failed)
    (let ((command (compat-bpe--find-command)))
      (if (not command)
          (progn
            (setq compat-bpe--has-failed t)
            (message "%s" (concat "compat-bpe is not installed: "
                                  "pip install . in a checkout of compat-bpe, then M-x compat-bpe-restart")))
        (setq compat-bpe--started (float-time)
              compat-bpe--server
              (make-instance
               'jsonrpc-process-connection
               :name "compat-bpe"
               :events-buffer-scrollback-size 0
               :notification-dispatcher #'compat-bpe--told
               :request-dispatcher #'ignore
               :on-shutdown #'compat-bpe--ended
               :process (lambda ()
                          ;; Not in the folder of the buffer, where Python would look for modules.
                          (let ((default-directory (expand-file-name "~/")))
                            (make-process :name "compat-bpe" :command command :noquery t
                                          :connection-type 'pipe :coding 'utf-8-emacs-unix
                                          :stderr (get-buffer-create " *compat-bpe stderr*"))))))
        (jsonrpc-async-request
         compat-bpe--server :initialize
         (list :processId (emacs-pid)
               :capabilities '(:general (:positionEncodings ["utf-32"]))
               :initializationOptions (compat-bpe--all-settings))
         :success-fn (lambda (_) (compat-bpe--ready)))))))

(defun compat-bpe--configure ()
  "Send the settings."
  (when compat-bpe--is-ready
    (jsonrpc-notify compat-bpe--server :workspace/didChangeConfiguration
                    (list :settings (list :compatBpe (compat-bpe--all-settings))))))

(defun compat-bpe--request (method params)
  "Return the answer to the request METHOD with PARAMS; signal what is wrong."
  (unless compat-bpe--is-ready
    (user-error "The server of compat-bpe is not running; M-x compat-bpe-restart starts it"))
  (compat-bpe--open)
  (compat-bpe--flush)
  (let ((process (jsonrpc--process compat-bpe--server)))
    (unwind-protect
        (condition-case failure
            (jsonrpc-request compat-bpe--server method params)
          (jsonrpc-error (user-error "%s" (or (alist-get 'jsonrpc-error-message (cddr failure))
                                              (error-message-string failure)))))
      ;; Emacs 28 leaves what came in one piece with the answer unread until more comes.
      (funcall (process-filter process) process ""))))

;;; What is shown

(defun compat-bpe--highlight ()
  "Highlight what is past the budget."
  (when (overlayp compat-bpe--overlay)
    (delete-overlay compat-bpe--overlay))
  (when-let ((place (and compat-bpe-highlight (plist-get compat-bpe--told :passedAt))))
    (save-restriction
      (widen)
      (setq compat-bpe--overlay (make-overlay (compat-bpe--position place) (point-max)))
      (overlay-put compat-bpe--overlay 'face 'compat-bpe-past-budget))))

(defun compat-bpe-mode-line ()
  "Return the count of the buffer for the mode line.
It is empty without a count, and begins with \"~\" if the count is not current."
  (if (not compat-bpe--told)
      ""
    (let* ((count (plist-get compat-bpe--told :count))
           (limit (plist-get compat-bpe--told :limit))
           (is-old (and (/= compat-bpe--version (plist-get compat-bpe--told :version))
                        (> (- (float-time) compat-bpe--changed) 1)))
           (about (if (plist-get compat-bpe--told :note) "≈" ""))
           (text (format " %s%s%d%s" (if is-old "~" "") about count
                         (cond (limit (format "/%d tokens" limit))
                               ((= count 1) " token")
                               (" tokens")))))
      (if (and limit (> count limit)) (propertize text 'face 'warning) text))))

;;;###autoload
(define-minor-mode compat-bpe-mode
  "Show the count of tokens of the buffer in the mode line."
  :lighter (:eval (compat-bpe-mode-line))
  (if compat-bpe-mode
      (progn
        (add-hook 'before-change-functions #'compat-bpe--before-change nil t)
        (add-hook 'after-change-functions #'compat-bpe--after-change nil t)
        (add-hook 'kill-buffer-hook #'compat-bpe--close nil t)
        (add-hook 'change-major-mode-hook #'compat-bpe--close nil t)
        (add-hook 'after-set-visited-file-name-hook #'compat-bpe--reopen nil t)
        (add-hook 'after-revert-hook #'compat-bpe--reopen nil t)
        (compat-bpe--start)
        (compat-bpe--open))
    (compat-bpe--close)
    (remove-hook 'before-change-functions #'compat-bpe--before-change t)
    (remove-hook 'after-change-functions #'compat-bpe--after-change t)
    (remove-hook 'kill-buffer-hook #'compat-bpe--close t)
    (remove-hook 'change-major-mode-hook #'compat-bpe--close t)
    (remove-hook 'after-set-visited-file-name-hook #'compat-bpe--reopen t)
    (remove-hook 'after-revert-hook #'compat-bpe--reopen t)))

(defun compat-bpe--turn-on ()
  "Turn `compat-bpe-mode' on in a buffer of text."
  (when (and (not (minibufferp))
             (not (string-prefix-p " " (buffer-name)))
             (derived-mode-p 'text-mode 'prog-mode 'conf-mode 'fundamental-mode)
             (or buffer-file-name (derived-mode-p 'text-mode 'prog-mode)))
    (compat-bpe-mode 1)))

;;;###autoload
(define-globalized-minor-mode global-compat-bpe-mode compat-bpe-mode compat-bpe--turn-on)

;;; Commands

;;;###autoload
(defun compat-bpe-restart ()
  "Restart the server, and count all buffers."
  (interactive)
  (let ((old compat-bpe--server))
    (setq compat-bpe--server nil compat-bpe--is-ready nil compat-bpe--has-failed nil)
    (when (and old (jsonrpc-running-p old))
      (jsonrpc-shutdown old)))
  (dolist (buffer (compat-bpe--buffers))
    (with-current-buffer buffer (compat-bpe--forget)))
  (compat-bpe--start))

;;;###autoload
(defun compat-bpe-count (&optional beg end)
  "Show the number of tokens in the buffer.
If the region is active, show that of the text from BEG to END.
Return the number."
  (interactive (when (use-region-p) (list (region-beginning) (region-end))))
  (unless compat-bpe-mode (compat-bpe-mode 1))
  (compat-bpe--flush)
  (let* ((answer (if beg
                     (compat-bpe--request :compatBpe/count (list :text (compat-bpe--text beg end)))
                   (compat-bpe--request :compatBpe/count (compat-bpe--document))))
         (count (plist-get answer :count)))
    (message "%d %s in the %s" count (if (= count 1) "token" "tokens") (if beg "region" "buffer"))
    count))

(defun compat-bpe--document ()
  "Return the parameters that name the buffer."
  (compat-bpe--open)
  (list :textDocument (list :uri compat-bpe--uri)))

;;;###autoload
(defun compat-bpe-copy-prompt (&optional limit)
  "Copy a prompt to fill in the text at point, of at most LIMIT tokens.
LIMIT is the prefix argument, or else `compat-bpe-prompt-limit'."
  (interactive (list (and current-prefix-arg (prefix-numeric-value current-prefix-arg))))
  (unless compat-bpe-mode (compat-bpe-mode 1))
  (let ((prompt (compat-bpe--request
                 :compatBpe/fitPrompt
                 (append (compat-bpe--document)
                         (list :position (plist-get (compat-bpe--range (point) (point)) :start)
                               :limit (or limit compat-bpe-prompt-limit))))))
    (kill-new (plist-get prompt :text))
    (message "Copied a prompt of %d tokens" (plist-get prompt :count))))

(defun compat-bpe--known ()
  "Return the names that can be counted by, each with its annotation in completion."
  (append
   (delq nil (mapcar (lambda (model)
                       (when-let ((by (or (plist-get model :encoding)
                                          (and (plist-get model :note) "an estimate"))))
                         (cons (plist-get model :name) by)))
                     (plist-get compat-bpe--names :models)))
   (mapcar (lambda (name) (cons name "an encoding")) (plist-get compat-bpe--names :encodings))))

(defun compat-bpe--read-name ()
  "Ask for a model or an encoding; what was typed of a name is completed."
  (let* ((known (compat-bpe--known))
         (completion-extra-properties
          (list :annotation-function
                (lambda (name) (concat "  " (cdr (assoc name known))))))
         (completion-styles '(basic)))  ; by the beginning of a name
    (completing-read "Model or encoding: " known)))

;;;###autoload
(defun compat-bpe-set-model (name)
  "Count by the model or encoding NAME from now on."
  (interactive (list (compat-bpe--read-name)))
  (let ((is-encoding (member name (append (plist-get compat-bpe--names :encodings) nil))))
    ;; Checked first: the server uses none of the settings if one is wrong.
    (when (and compat-bpe--is-ready (not (string-empty-p name)))
      (compat-bpe--request :compatBpe/fits
                           (list :text "" :limit 0 (if is-encoding :encoding :model) name)))
    (setq compat-bpe-model (unless (or is-encoding (string-empty-p name)) name)
          compat-bpe-encoding (and is-encoding name)))
  (compat-bpe--configure)
  (message "Counting by %s" (if (string-empty-p name) "o200k_base" name)))

;;;###autoload
(defun compat-bpe-set-budget (budget)
  "Warn where a buffer exceeds BUDGET tokens; nil for no budget."
  (interactive (list (let ((number (read-number "Budget in tokens, 0 for none: "
                                                (or compat-bpe-budget 0))))
                       (and (> number 0) number))))
  (setq compat-bpe-budget budget)
  (compat-bpe--configure))

(provide 'compat-bpe)
;;; compat-bpe.el ends here
