// A text that shows what tokens are: words, a number, code, scripts, an emoji of several tokens.

export const EXAMPLE = `A token is often a word, or a part of an unbelievably long one.
Numbers such as 1234567 and spaces    have their own:
    def count(text): return len(tokens)
Other scripts take more: 你好，世界 · नमस्ते · שלום 👩‍👩‍👧
`;
