import { untrustedTextNotice } from '@florin/protocol/discovery.ts';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { plainText } from './markdown.ts';
import { type Section, servedMarkdown } from './pages.ts';

/** The short index for language models (llmstxt.org). */
export function llmsText(sections: readonly Section[]): string {
  const lines = sections.map(({ title, pages }) => {
    const entries = pages.map((page) => `- [${page.title}](${page.path}): ${plainText(page.summary)}`);
    return `## ${title}\n\n${entries.join('\n')}`;
  });
  return `# Florin

> Collects stablecoin payments on EVM chains straight into the merchant's own wallet. Merchants use a REST API with keys; agents pay through the AI protocol with the signature of the payer's wallet.

Test for \`code\` = 0: business errors are HTTP 200. Amounts are integers in Micro-USD. The OpenAPI 3.1 document is at ${exampleOrigin}/openapi.json; all of these pages in one file are at ${exampleOrigin}/llms-full.txt.

Where everything is, for programs: ${exampleOrigin}/.well-known/ai-pay.json. The Model Context Protocol (streamable HTTP, POST only): ${exampleOrigin}/mcp. ${untrustedTextNotice}

${servedMarkdown(lines.join('\n\n'))}
`;
}

/** The listed pages, one after the other. */
export function llmsFullText(sections: readonly Section[]): string {
  return sections
    .flatMap(({ pages }) => pages.map(({ markdown }) => servedMarkdown(markdown)))
    .join('\n---\n\n');
}
