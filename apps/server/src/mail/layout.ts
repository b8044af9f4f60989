import { type BrandColors, backgrounds, brandColorsOf } from '@florin/protocol/brand-colors.ts';
import { type Html, html } from '#outside/html.ts';

/** What an e-mail shows. Texts are single lines; the layout escapes them. */
export interface MailContent {
  /** BCP 47. */
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  /** The name at the top: the merchant's, or the operator's. */
  readonly brandName: string;
  /** `#` and six hexadecimal digits, or empty. */
  readonly brandColor: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** Names and amounts: a long name takes more lines. */
  readonly items?: readonly MailRow[] | undefined;
  /** What the items come to. */
  readonly total?: MailRow | undefined;
  /** Short labels, each on one line, and values. */
  readonly rows: readonly MailRow[];
  /** More rows below the others, with their own heading. */
  readonly more?: { readonly title: string; readonly rows: readonly MailRow[] } | undefined;
  readonly button?: MailLink | undefined;
  readonly footer: readonly string[];
  readonly footerLinks?: readonly MailLink[];
}

export type MailRow = readonly [label: string, value: string];

interface MailLink {
  readonly text: string;
  readonly url: string;
}

const defaultColor = '#0a6b4b';
const mono = 'font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:12px';
const sans = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif';

/** The plain part and the HTML part. Neither refers to anything outside: no picture tells the sender who reads it. */
export function layOut(content: MailContent): { readonly text: string; readonly html: string } {
  return { text: plainOf(content), html: htmlOf(content).text };
}

function plainOf(content: MailContent): string {
  const { brandName, title, paragraphs, items = [], total, rows, more, button } = content;
  const { footer, footerLinks = [] } = content;
  const block = (lines: readonly string[]) => lines.join('\n');
  const rowLines = (list: readonly MailRow[]) => block(list.map(([label, value]) => `${label}: ${value}`));
  return [
    brandName,
    title,
    ...paragraphs,
    rowLines(total === undefined ? items : [...items, total]),
    rowLines(rows),
    more === undefined ? '' : `${more.title}\n${rowLines(more.rows)}`,
    button === undefined ? '' : `${button.text}:\n${button.url}`,
    block(['--', ...footer, ...footerLinks.map((link) => `${link.text}: ${link.url}`)]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function htmlOf(content: MailContent): Html {
  const {
    language,
    direction,
    brandName,
    title,
    paragraphs,
    items = [],
    total,
    rows,
    more,
    button,
  } = content;
  const { footer, footerLinks = [] } = content;
  const colors = brandColorsOf(content.brandColor === '' ? defaultColor : content.brandColor);
  const [page, card] = backgrounds.light;
  const end = direction === 'rtl' ? 'left' : 'right';
  const start = direction === 'rtl' ? 'right' : 'left';
  const cell = 'padding:8px 0;border-top:1px solid #dfe3e0;line-height:20px;vertical-align:top';
  const [wraps, whole, words] = ['word-break:break-word', 'white-space:nowrap', 'word-break:normal'];
  const sum = `${whole};font-weight:600`;
  const row =
    (ofLabel: string, ofValue: string) =>
    ([label, value]: MailRow) =>
      html`<tr>
<td class="soft line" align="${start}" style="${sans};font-size:14px;${cell};color:#545d58;${ofLabel}">${label}</td>
<td class="ink line" align="${end}" style="${isCode(value) ? mono : `${sans};font-size:14px`};${cell};padding-${start}:16px;color:#131a16;${ofValue}"><bdi>${value}</bdi></td>
</tr>`;
  const table = (lines: readonly Html[]) =>
    lines.length === 0
      ? html``
      : html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin:16px 0 0">${lines}</table>`;
  const soft = `${sans};margin:0 0 6px;color:#545d58;font-size:12px;line-height:1.5;word-break:break-word`;
  return html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>${darkStyle(colors)}</style>
</head>
<body class="page" style="margin:0;padding:0;background:${card}">
<table class="page" role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:${card}"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px"><tr><td class="card" style="background:${page};border-top:4px solid ${colors.accent};border-radius:8px;padding:28px 24px" align="${start}">
<p class="brand" style="${sans};margin:0 0 20px;color:${colors.links.light};font-size:16px;font-weight:600;word-break:break-word"><bdi>${brandName}</bdi></p>
<h1 class="ink" style="${sans};margin:0 0 12px;color:#131a16;font-size:24px;line-height:1.25;font-weight:650;word-break:break-word">${title}</h1>
${paragraphs.map((text) => html`<p class="ink" style="${sans};margin:0 0 8px;color:#131a16;font-size:16px;line-height:1.5;word-break:break-word">${text}</p>`)}
${table([...items.map(row(wraps, whole)), ...(total === undefined ? [] : [row(sum, sum)(total)])])}${table(rows.map((fact) => (hasLongWord(fact[1]) ? row(whole, wraps) : row(words, words))(fact)))}
${more === undefined ? html`` : html`<h2 class="ink" style="${sans};margin:24px 0 0;color:#131a16;font-size:16px;line-height:1.25;font-weight:600">${more.title}</h2>${table(more.rows.map(row(wraps, whole)))}`}
${button === undefined ? html`` : buttonOf(button, colors)}
</td></tr><tr><td style="padding:20px 24px" align="${start}">
${footer.map((text) => html`<p class="soft" style="${soft}">${text}</p>`)}
${footerLinks.map(({ text, url }) => html`<p class="soft" style="${soft}"><a class="soft" href="${url}" style="color:#545d58">${text}</a></p>`)}
</td></tr></table>
</td></tr></table>
</body>
</html>
`;
}

/** Whether a value has to break within a word on a phone. The others break between words, so that amounts stay whole. */
function hasLongWord(value: string): boolean {
  return /\S{21}/.test(value);
}

/** Ids, addresses and hashes: people compare them character by character. */
function isCode(value: string): boolean {
  return /^(0x[0-9a-fA-F]{40,}|[a-z]+_[0-9A-Za-z]{20,})$/.test(value);
}

function buttonOf({ text, url }: MailLink, { accent, onAccent }: BrandColors): Html {
  return html`<p style="margin:24px 0 4px"><a class="button" href="${url}" style="${sans};display:inline-block;background:${accent};color:${onAccent};font-size:16px;font-weight:600;text-decoration:none;padding:12px 20px;border-radius:6px">${text}</a></p>`;
}

/** Mailboxes without dark mode ignore it; the others take it over the inline styles. */
function darkStyle({ links }: BrandColors): string {
  const [page, card] = backgrounds.dark;
  return `@media (prefers-color-scheme: dark) {
.page { background: ${page} !important }
.card { background: ${card} !important; border-top-color: ${links.dark} !important }
.ink { color: #edf1ee !important }
.soft { color: #a9b3ad !important }
.line { border-top-color: #38413c !important }
.brand { color: ${links.dark} !important }
}`;
}
