import type { MarkdownRenderer } from 'vitepress';

/** Where a name may go on in the next line: before a capital, and behind a sign that joins words. */
const breaks = /(?<=[a-z0-9])(?=[A-Z])|(?<=[._/-])(?=[A-Za-z0-9&{:])/g;

/** Lets long names of code break between their words, so that a table with them is no wider than its page. */
export function codeBreaks(md: MarkdownRenderer): void {
  const render = md.renderer.rules.code_inline;
  if (render === undefined) throw new Error('the renderer of code is not there');
  md.renderer.rules.code_inline = (...given) =>
    render(...given).replace(
      /^(<code[^>]*>)(.*)(<\/code>)$/s,
      (_all, open: string, text: string, close: string) => open + text.replace(breaks, '<wbr>') + close,
    );
}
