/** What an act of the local world works on: the argument and the option that it takes. */
type Subject = 'session' | 'refund' | 'blocks' | 'chain' | 'token' | 'minutes';

/** Something that can happen to a running local world on request, at the command line or in its console. */
export interface WorldAct {
  readonly name: string;
  /** The heading under which the console shows it. */
  readonly group: 'payments' | 'chains' | 'tokens' | 'service';
  /** One clause for help and buttons. */
  readonly does: string;
  readonly argument?: { readonly subject: Subject; readonly isRequired: boolean };
  readonly option?: 'chain' | 'token';
  readonly watch: string;
  /** What to watch for once it is undone; only acts that last have it. */
  readonly watchUndone?: string;
}

const session = { subject: 'session', isRequired: false } as const;
const chain = { subject: 'chain', isRequired: false } as const;
const token = { subject: 'token', isRequired: false } as const;
const payment = { group: 'payments', argument: session, option: 'token' } as const;

/** Every act, in the order of help and console. */
export const worldActs: readonly WorldAct[] = [
  {
    ...{ ...payment, name: 'pay' },
    does: 'pays a session from a wallet: a new one, or the one that you name',
    watch:
      'The session goes from initialized to paid in some seven blocks, and to completed in some seven more.',
  },
  {
    ...{ ...payment, name: 'underpay' },
    does: 'sends 60 % of the price to a deposit address',
    watch:
      'The views of merchants and agents show what is missing. The session’s page does not: the act asks for an address of its own. The same act on the same session sends 60 % again and completes it. Otherwise the money goes back at the end, with an exception “underpaid”.',
  },
  {
    ...{ ...payment, name: 'overpay' },
    does: 'sends 150 % of the price to a deposit address',
    watch: 'The session is paid and completed. The exception “overpaid” goes back to the payer.',
  },
  {
    ...{ ...payment, name: 'late' },
    does: 'moves the world’s time past the end of a session, then pays it',
    watch:
      'The session expires. Its deposit becomes an exception “late”, which goes back to the payer. All other sessions that are due expire as well.',
  },
  {
    ...{ ...payment, name: 'double' },
    does: 'pays a session at two deposit addresses',
    watch: 'The first deposit pays the session. The second becomes an exception “duplicate” and goes back.',
  },
  {
    ...{ ...payment, name: 'wrong-token' },
    does: 'sends another token than was asked for to a deposit address',
    watch: 'The session stays unpaid. An exception “wrong_token” is raised, and the money goes back.',
  },
  {
    ...{ name: 'sign-refund', group: 'payments' },
    argument: { subject: 'refund', isRequired: false },
    does: 'signs a refund of settled money as the merchant’s wallet would: the newest that waits, or the one that you name',
    watch: 'The refund is completed once its transaction is final, and the payer has the money.',
  },
  {
    ...{ name: 'reorg', group: 'chains', option: 'chain' },
    argument: { subject: 'blocks', isRequired: false },
    does: 'replaces the newest blocks of a chain; their transactions are gone (3 blocks unless you say otherwise)',
    watch:
      'A payment in these blocks is detected no more, and its session goes back to initialized. The service sends its own transactions again. More than 6 blocks are deeper than finality: the service halts the chain until “florin chain resume”.',
  },
  {
    ...{ name: 'outage', group: 'chains' },
    argument: { subject: 'chain', isRequired: true },
    does: 'makes a chain’s node unreachable',
    watch:
      'Pages and the API go on. After about 20 seconds without an answer the chain is “unavailable”; new payments on it are refused with 900401. Nothing that was paid is lost.',
    watchUndone: 'The watcher reads the blocks that it missed, and what waits goes on.',
  },
  {
    ...{ name: 'halt', group: 'chains', argument: chain },
    does: 'stops the blocks of a chain',
    watch:
      'Payments wait without a block. After a minute the chain is “delayed” on pages and in capabilities.',
    watchUndone: 'The next block has everything that waited.',
  },
  {
    ...{ name: 'slow-finality', group: 'chains', argument: chain },
    does: 'stops the finality of a chain while its blocks go on',
    watch: 'Payments are detected and count confirmations, but none is paid, and nothing settles.',
    watchUndone: 'All payments that waited become paid at once, and settle.',
  },
  {
    ...{ name: 'lying-node', group: 'chains', argument: chain },
    does: 'makes a chain’s node double the amounts in receipts and logs',
    watch:
      'The service checks receipts against the block’s header and refuses the false ones. No payment on this chain is detected, and none is booked with a false amount.',
    watchUndone:
      'The watcher reads the same blocks again, and detects the payments in them with their true amounts.',
  },
  {
    ...{ name: 'gas-spike', group: 'chains', argument: chain },
    does: 'raises the base fee of a chain to 1,000 gwei',
    watch:
      'Settlements wait: 1,000 gwei is above settlement.maxFeePerGasGwei. Sessions stay at paid or settling.',
    watchUndone: 'The waiting settlements are sent.',
  },
  {
    ...{ name: 'blocklist', group: 'tokens', argument: token },
    does: 'puts the merchant’s wallet on a token’s blocklist',
    watch:
      'A payment that settles in this token waits with the reason recipient_blocked, and session.settlement_pending is raised. Others settle.',
    watchUndone: 'The delayed settlements are tried again and complete.',
  },
  {
    ...{ name: 'pause-token', group: 'tokens', argument: token },
    does: 'makes a token’s issuer stop all transfers',
    watch:
      'Payments in the token fail in the wallet. Settlements of earlier payments wait with the reason token_paused.',
    watchUndone: 'Payments work, and the delayed settlements complete.',
  },
  {
    ...{ name: 'empty-vault', group: 'tokens', argument: token },
    does: 'takes all of a token out of the vault that pays for other tokens',
    watch:
      'A payment in another token that settles in this one waits with the reason vault_short. Pay one: florin world pay --token ethereum::usdt.',
    watchUndone: 'The vault has its money again, and the waiting payouts are made.',
  },
  {
    ...{ name: 'advance', group: 'service' },
    argument: { subject: 'minutes', isRequired: true },
    does: 'moves the time of the chains and the service on by so many minutes',
    watch:
      'Open sessions expire, and what waits for a time happens. Time cannot go back: only reset ends it. Programs that use this machine’s clock lag behind from now on, such as x402 clients and receivers that check the time of a webhook.',
  },
  {
    ...{ name: 'fail-webhooks', group: 'service' },
    does: 'answers 500 to the deliveries of a webhook (made at first use)',
    watch: 'Each event’s delivery fails and is tried again later. After many failures the webhook is paused.',
    watchUndone: 'The next attempt of each delivery succeeds. A paused webhook has to be enabled.',
  },
  {
    ...{ name: 'hang-webhooks', group: 'service' },
    does: 'leaves the deliveries of a webhook without an answer (made at first use)',
    watch: 'Each attempt ends with a time-out. Deliveries of other webhooks are not held up.',
    watchUndone: 'The next attempt of each delivery succeeds.',
  },
  {
    ...{ name: 'kill-worker', group: 'service' },
    does: 'kills the service’s process with SIGKILL; the world starts it again',
    watch: 'Payments and deliveries go on where they were. None is lost, and none happens twice.',
  },
  {
    ...{ name: 'reset', group: 'service' },
    does: 'deletes the data of the world and starts a new one with the same wallets',
    watch: 'The chains begin at block 0. Merchant, links and API keys are new: read world.json again.',
  },
];

/** What the console's process answers to an act. */
export interface WorldActReport {
  readonly did: string;
  /** Links, hashes and the like, by their labels. */
  readonly facts: Readonly<Record<string, string>>;
  readonly watch: string;
}
