import type { MarkdownRenderer } from 'vitepress';

/** On the page about chains, puts the table that asks the service in place of the one of the Markdown. */
export function chainTable(md: MarkdownRenderer): void {
  md.core.ruler.push('chain_table', ({ tokens, env, Token }) => {
    if ((env as { relativePath?: string }).relativePath !== 'chains.md') return;
    const open = tokens.findIndex(({ type }) => type === 'table_open');
    const close = tokens.findIndex(({ type }) => type === 'table_close');
    const component = new Token('html_block', '', 0);
    component.content = '<ChainTable />';
    tokens.splice(open, close - open + 1, component);
  });
}
