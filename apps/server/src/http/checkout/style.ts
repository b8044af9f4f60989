import { builtAhead } from './built-ahead.ts';

/**
 * Phone first, light and dark, from 320 px upwards. Colours keep a contrast of 4.5 in both (WCAG 2.2 AA). On phones the
 * payment is a sheet below the order, and its bar with the price, the network and the button stays at the bottom; from
 * 56 rem on the order stands beside the payment. There the shorter of the two stays in view while the other scrolls, and a
 * deposit that takes the focus leaves the page at its top.
 */
export const style = `
* { box-sizing: border-box; margin: 0; padding: 0; }
:root { color-scheme: light dark; --ground: #f4f5f3; --card: #fff; --well: #eef0ed; --ink: #16211c; --soft: #55605a; --line: #d6dbd8; --accent: #0b6b4d; --on-accent: #fff; --link: var(--accent); --good: #0b6b4d; --bad: #a3261b; --tint: #eaf3ef; --round: .75rem; --font: system-ui, sans-serif; }
@media screen and (prefers-color-scheme: dark) { :root { --ground: #101512; --card: #19201c; --well: #101512; --ink: #eef3f0; --soft: #a9b5af; --line: #3a443f; --accent: #5fdcae; --on-accent: #06281c; --good: #5fdcae; --bad: #ff9d92; --tint: #1f2b25; } .dark-plate { background: #fff; padding: .25rem; } }
body { background: var(--ground); color: var(--ink); font: 1rem/1.45 var(--font); overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; }
fieldset { border: 0; min-width: 0; } ul, ol { list-style: none; }
h1 { font-size: clamp(2rem, 9vw, 2.75rem); line-height: 1.1; font-variant-numeric: tabular-nums; }
h1, h2, .status p, .middle, dd, .address { text-wrap: balance; } p { text-wrap: pretty; } h1.open, h1.long, .narrow h1 { font-size: min(1.625rem, 6.5vw); } h2 { font-size: 1rem; }
a { color: var(--link); } #back, #claim-link, #to-payment { display: inline-block; padding-block: .75rem; } #claim-link, #to-payment { margin-block: -.75rem; }
.soft { color: var(--soft); } .small { font-size: .875rem; }
.hide { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
button, .button, input, select { font: inherit; color: inherit; }
.button, button, .tool { display: flex; align-items: center; justify-content: center; gap: .5rem; width: 100%; min-height: 3.25rem; padding: .5rem 1rem; border: 1px solid transparent; border-color: color-mix(in srgb, var(--on-accent) 14%, transparent); border-radius: var(--round); background: var(--accent); color: var(--on-accent); font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; }
.quiet, .wallet { background: transparent; color: var(--ink); border-color: var(--soft); font-weight: 500; }
.plain, .tool { width: auto; min-height: 2.75rem; padding: .25rem .5rem; border-color: transparent; background: transparent; color: var(--link); } .tool { min-width: 2.75rem; color: var(--soft); }
button:disabled, [aria-disabled=true], .option:has(:disabled) { opacity: .55; cursor: default; }
.icon { width: 1.125rem; height: 1.125rem; flex: none; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.coin, .dot, .ghost, .tabs span { display: grid; place-items: center; }
.coin { width: 2.25rem; height: 2.25rem; flex: none; border-radius: 50%; background: var(--tint); font-weight: 700; }
.mark { position: relative; flex: none; } button > .mark { margin-inline-end: .3rem; } .mark .coin + .coin { position: absolute; inset-inline-end: -.3rem; inset-block-end: -.15rem; width: 1.1rem; height: 1.1rem; font-size: .625rem; border: 2px solid var(--card); box-sizing: content-box; background: var(--card); }
.page { display: grid; grid-template: auto 1fr / minmax(0, 1fr); min-height: 100dvh; }
.order, .pane { padding: 1rem 1.25rem; } .order > *, .pane > * { width: 100%; max-width: 27rem; margin-inline: auto; }
.narrow { max-width: 32rem; margin: 0 auto; padding: 4rem 1rem 2rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 1.25rem; margin-block-end: 1rem; }
.lang { position: absolute; inset-inline-end: 1.25rem; inset-block-start: 1rem; z-index: 2; font-size: .875rem; } .lang summary { min-height: 2.75rem; padding: 0 .25rem; list-style: none; color: var(--soft); } .lang summary::-webkit-details-marker { display: none; }
.lang ul { position: absolute; inset-inline-end: 0; width: 11rem; padding: .375rem; background: var(--card); border: 1px solid var(--line); border-radius: var(--round); box-shadow: 0 .75rem 2rem #0003; } .lang li > * { display: block; padding: .5rem .75rem; min-height: 2.75rem; border-radius: .5rem; color: inherit; text-decoration: none; } .lang [aria-current] { font-weight: 700; background: var(--tint); } .lang a:hover { background: var(--well); }
.merchant { min-height: 2.75rem; padding-inline-end: 7rem; margin-block-end: 1rem; font-weight: 600; } .merchant .coin { border-radius: .5rem; background: var(--accent); color: var(--on-accent); }
.plate { background: #fff; padding: .25rem; } .brand-icon { width: 2.5rem; height: 2.5rem; object-fit: cover; border-radius: .5rem; }
.logo { height: 2.5rem; max-width: 8rem; object-fit: contain; object-position: left; border-radius: .375rem; } [dir=rtl] .logo { object-position: right; }
.sum { justify-content: space-between; } .title { font-size: 1.0625rem; margin-block-start: .25rem; }
.pill { padding: .1875rem .625rem; border-radius: 1rem; border: 1px solid var(--line); background: var(--card); font-size: .875rem; font-weight: 600; font-variant-numeric: tabular-nums; } .pill .icon { width: .875rem; } .late { color: var(--bad); border-color: currentColor; }
.items li { display: flex; gap: .75rem; padding-block: .75rem; border-block-start: 1px solid var(--line); } #head { margin-block-end: 1rem; }
.merchant bdi { flex: 1 1 6rem; text-align: left; } .items img { width: 3rem; height: 3rem; object-fit: contain; border-radius: .5rem; background: var(--card); }
.name { flex: 1; min-width: 0; } .value { font-variant-numeric: tabular-nums; }
summary { cursor: pointer; padding-block: .625rem; min-height: 2.75rem; } #details { border-block-start: 1px solid var(--line); font-size: .875rem; color: var(--soft); }
dl { display: grid; gap: .125rem; } dl > div { gap: 0 .5rem; min-height: 1.75rem; } dt { color: var(--soft); } dd { margin-inline-start: auto; text-align: end; }
.near { white-space: nowrap; } .hash, .address { font-family: ui-monospace, monospace; font-size: .875rem; } .hash { white-space: nowrap; } .whole { display: none; white-space: normal; }
.pane { position: relative; overflow-x: clip; display: flex; flex-direction: column; gap: 1rem; background: var(--card); border-radius: 1.25rem 1.25rem 0 0; box-shadow: 0 -1px 0 var(--line); padding-block-end: 0; }
#state, #pay { display: flex; flex-direction: column; gap: 1rem; } #pay { flex: 1; } #state:empty, #state:has(> .quiet:only-child), #pay:empty { display: none; } .quiet.status, .live.apart #deposit, .live.apart #state:has(> .quiet + #deposit:last-child):not(:has(.arrived)), html:not(.apart) .pane:has(#deposit) .arrived, .codes:has(#code-wallet:checked) .address-code, .codes:not(:has(#code-wallet:checked)) .wallet-code, html:not(.own) .owner, .unfollowed, html:not(.other) #other-paid, .other #you-paid, .copied > .row:first-child, .actions > :not(.copied) > .row + .row, .live:not(.own) #download, .live:not(.own) [data-act=hint] { display: none; } html:not(.live) [data-act] { visibility: hidden; } body:not(.leaves) .leave { display: none; } .leave > .plain { margin: auto; } .apart .quiet:has(.arrived) { display: grid; } .copied { color: var(--good); }
.bar { position: sticky; inset-block-end: 0; display: grid; grid-template-columns: minmax(0, 1fr); gap: .625rem; margin-block-start: auto; margin-inline: calc(50% - 50vw); padding: .75rem calc(50vw - 50%) max(.75rem, env(safe-area-inset-bottom)); background: var(--card); border-block-start: 1px solid var(--line); }
.bar.bare { padding: 0; border: 0; } .live:not(.apart) .bar { position: fixed; inset: auto 0 0; z-index: 1; margin: 0; padding: .75rem 1.25rem; justify-items: center; border-block-start: 1px solid var(--line); } .live:not(.apart) #pay:has(.bar) { min-height: 6rem; }
@media (max-height: 30rem) { .bar { position: static; } }
.row, .step, .pill, .option, .merchant, .sum, .lang summary, .sheet legend, dl > div { display: flex; align-items: center; gap: .5rem; } .row, .option { gap: .75rem; } .option, .merchant, .sum, dl > div, .links, .foot { flex-wrap: wrap; }
.card, .card > div, .wallets, .wallets ul, .wallets li, #short, .receipt, .deposit, .codes, .forms, .forms form { display: grid; gap: .75rem; } .says, .status, .arrived, .elsewhere, .field, .actions { display: grid; gap: .375rem; }
.facts { display: block; overflow: hidden; } .facts > span { display: flex; flex-wrap: wrap; margin-inline-start: -1em; } .facts span span { position: relative; padding-inline-start: 1em; } .facts span span::before { content: "·"; position: absolute; inset-inline-start: 0; width: 1em; text-align: center; }
.says > :empty, .step:empty { display: none; }
.step, .problem { font-weight: 600; } .problem { color: var(--bad); } .links { display: flex; margin-inline-start: -.5rem; }
.stages { display: flex; gap: .25rem; font-size: .75rem; color: var(--soft); } #change-way { margin-inline-end: -.5rem; }
.stages li { flex: 1; display: grid; justify-items: center; gap: .25rem; text-align: center; position: relative; min-width: 0; } .stages li + li::before { content: ""; position: absolute; inset-block-start: .75rem; inset-inline: calc(-50% + 1rem) calc(50% + 1rem); border-block-start: 2px solid var(--line); } .stages .past + li::before { border-color: var(--good); }
.dot { width: 1.5rem; height: 1.5rem; border-radius: 50%; border: 2px solid var(--line); font-weight: 700; } .past .dot { border-color: var(--good); color: var(--good); } .past:has(s) .dot { border-color: var(--line); color: inherit; } [aria-current=step] { color: var(--ink); font-weight: 700; } [aria-current=step] .dot { border-color: var(--link); background: var(--link); color: var(--card); }
.tabs { display: flex; padding: .25rem; gap: .25rem; background: var(--well); border-radius: var(--round); } .tabs label { flex: 1; position: relative; display: grid; } .tabs input, .option input { position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; cursor: pointer; z-index: 1; } .tabs span { min-height: 2.75rem; padding: .25rem .5rem; border-radius: calc(var(--round) - .25rem); border: 1px solid transparent; font-size: .875rem; font-weight: 500; text-align: center; color: var(--soft); } .tabs :checked + span { background: var(--card); color: var(--ink); border-color: var(--line); } .tabs :focus-visible + span, .option:has(:focus-visible) { outline: 3px solid var(--link); outline-offset: 1px; }
.wallets ul:has(> :nth-child(4)) { grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); } .wallets ul:has(> :nth-child(4)) .wallet > .icon { display: none; } .wallets ul:has(> :nth-child(4)) .near { font-size: .8125rem; } .wallet, .ghost { min-height: 3.75rem; } .wallet { justify-content: flex-start; gap: .5rem; padding: .375rem .625rem; text-align: start; border-color: var(--line); } .wallet:hover { border-color: var(--soft); } [aria-pressed=true] { border-color: var(--link); background: var(--tint); opacity: 1 !important; } [aria-pressed=true] > .icon { color: var(--link); } [aria-pressed=true] > .coin { background: var(--card); } .name > bdi { display: block; text-align: left; } .merchant bdi, .title bdi, .items bdi { display: -webkit-box; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 3; } [dir=rtl] :is(.name, .merchant, .title) > bdi { text-align: right; } .ghost { border: 1px dashed var(--line); border-radius: var(--round); } .wallet-icon { width: 2.25rem; height: 2.25rem; border-radius: .5rem; flex: none; } .step .wallet-icon, #connect :is(.wallet-icon, .coin) { width: 1.5rem; height: 1.5rem; border-radius: .375rem; }
.field input, .field select { width: 100%; min-height: 3.25rem; padding: .5rem .75rem; border: 1px solid var(--soft); border-radius: var(--round); background: var(--card); font-size: 1.0625rem; } .field [aria-invalid=true] { border-color: var(--bad); } .field span:empty { display: none; }
.sheet { width: 100%; max-width: 30rem; max-height: 85vh; margin: auto auto 0; padding: 1rem 1.25rem 1.5rem; border: 1px solid transparent; border-radius: 1.25rem 1.25rem 0 0; background: var(--card); color: var(--ink); overflow: auto; } .sheet::backdrop { background: #0008; } .sheet fieldset { margin-block-start: .75rem; } .sheet legend { font-weight: 600; font-size: .875rem; } .sheet legend .coin, #accepted .coin { width: 1.25rem; height: 1.25rem; font-size: .625rem; }
#accepted .row { margin-block-start: .375rem; } .option { position: relative; min-height: 3.5rem; padding: .5rem .75rem; margin-block-start: .5rem; border: 1px solid var(--line); border-radius: var(--round); } .option:has(:checked) { border-color: var(--link); background: var(--tint); box-shadow: inset 0 0 0 1px var(--link); } .option .name { flex-basis: 6rem; } .option .value { margin-inline-start: auto; }
.emblem { width: 3.75rem; height: 3.75rem; margin: 0 auto .5rem; fill: none; stroke: var(--soft); stroke-width: 3; stroke-linecap: round; stroke-linejoin: round; } .good .emblem, .good .state { stroke: var(--good); color: var(--good); } .bad .emblem, .bad .state { stroke: var(--bad); color: var(--bad); } .good .emblem { fill: var(--good); } .good .sign { fill: none; stroke: var(--card); }
.good, .status:has(.emblem), .middle, progress ~ p { text-align: center; } [tabindex='-1']:focus { outline: 0; } .status h2 { font-size: 1.375rem; line-height: 1.25; } .state { font-weight: 700; font-size: 1.125rem; } h2 + .state { font-size: 1rem; }
.success { background: var(--tint); border-radius: var(--round); padding: .75rem; text-align: center; }
.receipt { border-block-start: 1px solid var(--line); padding-block: .75rem; font-size: .875rem; } .code-line { display: inline-flex; align-items: center; margin-inline-end: -.5rem; } .code-line .tool { margin: -.5rem -.375rem; }
.spinner { width: 1.25em; height: 1.25em; flex: none; border: .15em solid var(--line); border-block-start-color: var(--link); border-radius: 50%; animation: turn 1s linear infinite; } @keyframes turn { to { transform: rotate(1turn); } }
progress { width: 100%; accent-color: var(--link); }
.deposit h2, .sheet h2 { font-size: 1.25rem; } .loud { background: var(--ink); color: var(--card); font-weight: 700; padding: .5rem .75rem; border: 1px solid transparent; border-radius: .5rem; }
.deposit .address { font-size: 1.0625rem; background: var(--tint); border-radius: .5rem; padding: .625rem .75rem; } .address { word-break: break-all; }
.code { position: relative; width: min(100%, 15rem); height: auto; margin-inline: auto; border-radius: .75rem; } .code > img { display: block; width: 100%; height: auto; } img { max-width: 100%; } .code > img, img.code { background: #fff; border-radius: .75rem; border: 1px solid var(--line); } .code .mark { position: absolute; inset: 0; margin: auto; width: 2.25rem; height: 2.25rem; border-radius: 50%; box-shadow: 0 0 0 .3rem #fff; } .code .mark, .code .mark .coin { background: #fff; border-color: #fff; }
.actions { grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); } .actions > * { padding-inline: .5rem; }
.forms > p:first-child { font-size: .875rem; color: var(--soft); }
.foot { display: flex; gap: 0 1rem; font-size: .875rem; color: var(--soft); } .foot > * { padding-block: .75rem; } .foot a { color: inherit; min-width: 2.75rem; }
.done .order { order: 2; } .done .merchant, .narrow .merchant { padding: 0; } .done .pane { border-radius: 0; padding-block: 3.5rem 1.25rem; }
@media (min-width: 56rem) {
.items bdi { -webkit-line-clamp: none; } dl > div { min-height: 1.5rem; } h1.long { font-size: 2rem; }
.page { grid-template: 1fr / repeat(2, minmax(0, 1fr)); } .order, .done .order { order: 0; padding: 3.5rem 4rem; } .order > * { margin-inline: auto 0; } .order { position: sticky; inset-block-start: 0; align-self: start; } .merchant { margin-block-end: 2rem; padding: 0; }
.pane { border-radius: 0; padding: 5rem 4rem 2rem; box-shadow: 0 0 3rem #0001, 0 0 0 1px var(--line); gap: 1.25rem; } .pane > * { margin-inline: 0 auto; } .lang { inset-inline-end: 2rem; inset-block-start: 1.25rem; } .pane { position: sticky; inset-block-end: 0; align-self: end; min-height: 100vh; } #pay { flex: none; }
.bar, .bar.bare { position: static; margin: 0; padding: 0; border: 0; gap: 1rem; } :not(#short) + .bar .says, #waiting { order: 1; } #way { padding: .5rem .75rem; border: 1px solid var(--line); border-radius: var(--round); }
.deposit { grid-template-columns: minmax(0, 1fr) 12.5rem; scroll-margin-block: 5rem -20rem; } .deposit > * { grid-column: 1 / -1; } .deposit > .actions, .codes + p { grid-column: 1; align-self: start; } .deposit > .codes { grid-column: 2; grid-row: span 2; } .sheet { margin: auto; border-radius: 1.25rem; } }
@media (max-width: 22rem) { .stages li:not([aria-current]) span + span { position: absolute; clip-path: inset(50%); } }
@media (prefers-reduced-motion: no-preference) { .sign { stroke-dasharray: 60; animation: draw .6s .2s backwards; } .sheet[open] { animation: rise .2s; } @keyframes draw { from { stroke-dashoffset: 60; } } @keyframes rise { from { translate: 0 2rem; opacity: 0; } } }
@media (prefers-reduced-motion: reduce) { .spinner { animation: none; } }
@media (forced-colors: active) { .tabs :checked + span, [aria-pressed=true], .option:has(:checked), [aria-current=step] .dot { outline: 2px solid Highlight; } .emblem { fill: none !important; } .emblem * { stroke: CanvasText !important; } .spinner { border-color: GrayText; border-block-start-color: Highlight; } .plain, .tool { border: 0; } }
@media print { :root, .order { --ink: #000; --soft: #444; --line: #bbb; --link: #000; color: #000; } body, .page, .pane { background: #fff; } .lang, #pay, button, .button, .tool, .emblem, .status p.soft, .middle, .field, [data-act], #details, .foot a, .order summary { display: none !important; } ::details-content { content-visibility: visible; } .order bdi { display: block !important; } .page { display: block; } .order, .pane { padding: 0; position: static; box-shadow: none; } .order > *, .pane > * { max-width: 42rem; margin-inline: 0; } .good, .status:has(.emblem), .success { text-align: start; } .hash { display: none; } .code-line { margin: 0 !important; } .whole { display: inline; font-size: .75rem; } }
`;

/** As pages contain it. */
export const smallStyle = builtAhead?.style ?? (await shrinkStyle());

async function shrinkStyle(): Promise<string> {
  const { transform } = await import('esbuild');
  const { code } = await transform(style, { loader: 'css', minify: true, charset: 'utf8' });
  return code.trim();
}

/** For readers without scripts: what the script would do is hidden, and the state is always in words. */
export const noScriptStyle =
  '#pay,[data-act],.follows,#deposit .spinner{display:none}.unfollowed{display:inline}#state:has(> .quiet:only-child){display:flex}.quiet.status:not(:has(~ #deposit)){display:grid}';
