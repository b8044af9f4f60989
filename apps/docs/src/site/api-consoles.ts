import type { MarkdownRenderer } from 'vitepress';

/** Puts a console below the line of each operation, such as `POST /payment/v1/product/create`. */
export function apiConsoles(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  md.renderer.rules['fence'] = (tokens, index, ...rest) => {
    const block = fence?.(tokens, index, ...rest) ?? '';
    const { info = '', content = '' } = tokens[index] ?? {};
    const [, method, path] = /^(GET|POST) (\/\S+)\n$/.exec(content) ?? [];
    if (info !== 'http' || method === undefined) return block;
    return `${block}<ApiConsole method="${method}" path="${path}" />`;
  };
}
