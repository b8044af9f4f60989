import { html } from '#outside/html.ts';
import type { BooksStatus, ChainStatus } from '#reconcile/status.ts';

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}' +
  'table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #8884}' +
  '.number{text-align:right;font-variant-numeric:tabular-nums}:root{color-scheme:light dark}' +
  // A phone has no room for five columns.
  '@media(max-width:44rem){table,tbody,tr,td{display:block}thead{display:none}td{border:0;padding:.1rem 0}' +
  'tr{padding:.6rem 0;border-bottom:1px solid #8884}td.number{display:flex;justify-content:space-between;gap:1rem}' +
  'td.number::before{content:attr(data-name)}}';

/** The page has no script, and only its own style. */
export const statusPagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const holderNames = { gateway: 'Gateway', vault: 'Vault', fees: 'Fees in the gateway' } as const;

/** The page at /status: the balances of the books beside those of the chains. */
export function renderStatusPage(status: BooksStatus): string {
  const verdict = status.isBalanced
    ? 'The books agree with every chain.'
    : 'The books do not agree with every chain, or have not been compared yet.';
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Status of the books</title><style>${style}</style></head>
<body><main><h1>Status of the books</h1><p><strong>${verdict}</strong></p>
<p>Each minute the ledger is compared with what the contracts hold, at one final block. Amounts are in the smallest units
of the token. Ledger minus chain has to be 0.</p>${status.chains.map(section)}</main></body></html>`.text;
}

function section(chain: ChainStatus) {
  const block =
    chain.reconciledBlock === null
      ? 'Not compared yet.'
      : `Agreed at block ${chain.reconciledBlock}, ${(chain.reconciledAt ?? '').slice(0, 19).replace('T', ' ')} UTC.`;
  const state =
    chain.settlement === 'running' ? 'Settlement is running.' : `Settlement is stopped: ${chain.reason}.`;
  const payments =
    chain.payments === 'available' ? '' : `New payments are ${chain.payments}: ${chain.paymentsReason}.`;
  return html`<section><h2>${chain.chain} (${chain.chainId})</h2><p>${block} ${state} ${payments}</p>
<table><thead><tr><th>Holder</th><th>Token</th><th class="number">Ledger</th><th class="number">Chain</th><th class="number">Ledger minus chain</th></tr></thead>
<tbody>${chain.balances.map(
    (balance) => html`<tr><td>${holderNames[balance.holder]}</td><td>${balance.token}</td>
<td class="number" data-name="Ledger">${balance.ledger}</td><td class="number" data-name="Chain">${balance.chain}</td>
<td class="number" data-name="Ledger minus chain">${balance.difference}</td></tr>`,
  )}</tbody></table></section>`;
}
