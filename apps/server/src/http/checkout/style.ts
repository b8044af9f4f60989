/** Phone first, light and dark, from 320 px upwards. Colours keep a contrast of 4.5 in both (WCAG 2.2 AA). */
export const style = `
:root { color-scheme: light dark; --ground: #f4f5f3; --card: #fff; --ink: #16211c; --soft: #55605a; --line: #d6dbd8; --accent: #0b6b4d; --on-accent: #fff; --good: #0b6b4d; --bad: #a3261b; --tint: #eaf3ef; }
@media (prefers-color-scheme: dark) { :root { --ground: #101512; --card: #19201c; --ink: #eef3f0; --soft: #a9b5af; --line: #3a443f; --accent: #5fdcae; --on-accent: #06281c; --good: #5fdcae; --bad: #ff9d92; --tint: #1f2b25; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 30rem; margin: 0 auto; padding: 1rem 1rem 2rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 1.25rem; margin-block-end: 1rem; }
h1 { font-size: clamp(2rem, 10vw, 2.75rem); line-height: 1.1; margin: 0 0 .25rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1rem 0 .5rem; }
p { margin: .25rem 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); } .small { font-size: .875rem; }
.logo { display: block; height: 3rem; max-width: 10rem; object-fit: contain; object-position: left; margin-block-end: .5rem; border-radius: .375rem; }
[dir=rtl] .logo { object-position: right; }
@media (prefers-color-scheme: dark) { .logo { background: #fff; padding: .25rem; } }
.merchant { font-weight: 600; } .title { font-size: 1.0625rem; }
ul { list-style: none; margin: 0; padding: 0; }
.items li { display: flex; gap: .75rem; padding: .625rem 0; border-block-start: 1px solid var(--line); }
.items img { width: 3rem; height: 3rem; object-fit: contain; border-radius: .375rem; }
.name { flex: 1; min-width: 0; overflow-wrap: anywhere; } .value { font-variant-numeric: tabular-nums; }
dl { display: grid; grid-template-columns: minmax(6rem, auto) 1fr; gap: .25rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; text-align: end; overflow-wrap: anywhere; }
.hash { font-family: ui-monospace, monospace; font-size: .8125rem; }
summary { cursor: pointer; padding: .5rem 0; min-height: 2.75rem; }
button, .button, input, select { font: inherit; }
button, .button { display: block; width: 100%; min-height: 3rem; padding: .625rem 1rem; border-radius: .75rem; border: 1px solid transparent; text-align: center; text-decoration: none; cursor: pointer; background: var(--accent); color: var(--on-accent); font-weight: 600; }
button.quiet, button.wallet { background: transparent; color: var(--ink); border-color: var(--soft); font-weight: 500; }
button.plain { width: auto; min-height: 2rem; padding: .25rem .5rem; background: transparent; color: var(--accent); text-decoration: underline; font-weight: 500; }
button:disabled { opacity: .6; cursor: default; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.wallets { display: grid; gap: .5rem; }
.wallet { display: flex; align-items: center; gap: .75rem; text-align: start; }
.icon { width: 1.75rem; height: 1.75rem; border-radius: .375rem; }
.connected { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .25rem .5rem; }
.field { display: grid; gap: .25rem; margin-block: .75rem; } .field input, .field select { min-height: 3rem; padding: .5rem .75rem; border: 1px solid var(--soft); border-radius: .75rem; background: var(--card); color: var(--ink); font-size: 1.125rem; width: 100%; }
fieldset { border: 0; padding: 0; margin: .75rem 0; } legend { font-weight: 600; padding: 0; margin-block-end: .5rem; }
.option { display: grid; grid-template-columns: auto 1fr; gap: 0 .75rem; align-items: center; padding: .625rem .75rem; border: 1px solid var(--line); border-radius: .75rem; margin-block-end: .5rem; cursor: pointer; min-height: 3rem; }
.option input { grid-row: 1 / span 2; width: 1.25rem; height: 1.25rem; accent-color: var(--accent); margin: 0; }
.option:has(input:checked) { border-color: var(--accent); background: var(--tint); }
.network { margin-block: .5rem; }
.status { border-inline-start: .3rem solid var(--soft); padding: .25rem 0 .25rem .75rem; padding-inline: .75rem 0; }
.status.good { border-color: var(--good); } .status.bad { border-color: var(--bad); }
.state { font-size: 1.25rem; font-weight: 700; } .good .state { color: var(--good); } .bad .state { color: var(--bad); }
.success { background: var(--tint); border-radius: .75rem; padding: .75rem; margin-block: .75rem; }
.step:empty, .problem:empty, #connection:empty { display: none; }
.step { background: var(--tint); border-radius: .75rem; padding: .75rem; font-weight: 600; margin-block: .75rem; }
.problem { color: var(--bad); font-weight: 600; margin-block: .75rem; }
.spinner { display: inline-block; width: 1em; height: 1em; border: .15em solid var(--line); border-block-start-color: var(--accent); border-radius: 50%; margin-inline-end: .5rem; vertical-align: -.125em; animation: turn 1s linear infinite; }
@keyframes turn { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .spinner { animation: none; } }
progress { width: 100%; accent-color: var(--accent); margin-block: .5rem; }
.loud { background: var(--ink); color: var(--card); font-weight: 700; padding: .5rem .75rem; border-radius: .5rem; }
.address { font-family: ui-monospace, monospace; font-size: 1.0625rem; word-break: break-all; background: var(--tint); border-radius: .5rem; padding: .5rem .75rem; }
.code { display: block; width: min(100%, 15rem); margin: .75rem auto; background: #fff; border-radius: .5rem; } .code path { fill: #000; }
#elsewhere, .deposit details { margin-block-start: .75rem; border-block-start: 1px solid var(--line); }
.actions { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .5rem; margin-block: .75rem; }
#state:empty, #pay:empty { display: none; }
a { color: var(--accent); } a.button { color: var(--on-accent); }
footer { color: var(--soft); font-size: .875rem; } footer ul { display: flex; flex-wrap: wrap; gap: .25rem .75rem; } footer li a, footer li span { display: inline-block; padding: .25rem 0; min-height: 1.5rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8125rem; margin: .25rem 0; }
@media print { body { background: #fff; } footer, #pay, button, .button, .status p.soft { display: none !important; } .card { border: 0; padding: 0; } details[open] summary { display: none; } }
`;
