import type { MarkdownRenderer } from 'vitepress';

/** The names of languages, for tabs of code that has no file name. */
const labels: Readonly<Record<string, string>> = {
  sh: 'curl',
  ts: 'SDK',
  js: 'JavaScript',
  py: 'Python',
  json: 'JSON',
};

/**
 * Shows blocks of code that follow each other directly, in different languages, as tabs. In the repository they are
 * plain Markdown.
 */
export function codeTabs(md: MarkdownRenderer): void {
  md.core.ruler.push('code_tabs', ({ tokens, Token }) => {
    for (let at = 0; at < tokens.length; at += 1) {
      let end = at;
      while (tokens[end]?.type === 'fence') end += 1;
      const group = tokens.slice(at, end);
      const languages = new Set(group.map(({ info }) => info.split(' ')[0]));
      if (group.length > 1 && languages.size === group.length) {
        for (const token of group) {
          const [language = '', name = labels[language] ?? language] = token.info.split(' ');
          token.info = `${language} [${name}]`;
        }
        const open = new Token('container_code-group_open', 'div', 1);
        open.info = ' code-group';
        tokens.splice(at, group.length, open, ...group, new Token('container_code-group_close', 'div', -1));
        end += 2;
      }
      at = Math.max(at, end);
    }
  });
}
