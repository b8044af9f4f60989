import type { MarkdownRenderer } from 'vitepress';

/** A table of fewer columns fits a phone. */
const leastColumns = 3;

/** Gives each cell of a table the name of its column: on a phone the cells of a row stand below each other. */
export function columnNames(md: MarkdownRenderer): void {
  md.core.ruler.push('column_names', ({ tokens }) => {
    let names: string[] = [];
    let column = 0;
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'table_open') names = [];
      if (token.type === 'th_open') names.push(tokens[at + 1]?.content ?? '');
      if (token.type === 'tr_open') column = 0;
      if (token.type !== 'td_open') continue;
      if (names.length >= leastColumns) token.attrSet('data-column', names[column] ?? '');
      column += 1;
    }
  });
}
