/** A payment link that code for a site names. */
export interface SharedLink {
  readonly linkId: string;
  readonly linkUrl: string;
  readonly linkName: string;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}

/** `<florin-button>` for the HTML of a shop, with the script of this installation that brings it to life. */
export function buttonCode({ linkId, linkUrl, linkName }: SharedLink): string {
  const script = `${new URL(linkUrl).origin}/embed/v1.js`;
  return [
    `<script type="module" src="${escaped(script)}"></script>`,
    `<florin-button link="${escaped(linkId)}">Pay for ${escaped(linkName)}</florin-button>`,
  ].join('\n');
}

/** A link to the page of payment, for HTML that runs no scripts, such as an e-mail. */
export function anchorCode({ linkUrl, linkName }: SharedLink): string {
  return `<a href="${escaped(linkUrl)}" rel="noopener">Pay for ${escaped(linkName)}</a>`;
}
