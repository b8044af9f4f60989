import {
  agent,
  agentCreation,
  agentPreparation,
  type ConformanceSection,
  depositLife,
  gaslessLife,
  mcp,
  merchantText,
  offer,
  refundLife,
  refunds,
  rule,
  settledRefunds,
  signature,
  x402Life,
} from './proof.ts';

/** The wire contract: the AI protocol and refunds. */
export const agentSections: readonly ConformanceSection[] = [
  {
    title: 'Wire contract 8: AI protocol',
    rules: [
      rule('A payer without gas pays by one signature, and a repeat is the same payment', [
        gaslessLife('a payer without gas pays by one signature, and repeats of it are one payment'),
        gaslessLife('a signature and a transaction for one order in one block pay it once'),
      ]),
      rule('Plain transfers to a deposit address pay, and what pays nothing goes back', [
        depositLife('plain transfers to a deposit address pay its session, in parts, too'),
        depositLife(
          'what is too much, or of another token, goes back to the refund address, and the merchant is told',
        ),
        depositLife('too little in time, and everything that comes too late, goes back'),
      ]),
      rule('Stock x402 clients pay links and sessions, and never twice', [
        x402Life(
          'a stock fetch client pays a link, gets a receipt, and a repeat of its request pays nothing again',
        ),
        x402Life('an offer is no row, and each one has an address of its own'),
        x402Life('an unknown outcome is told as pending with its hash, and asking again finds it out'),
      ]),
      rule('MCP answers at /mcp and over stdio', [
        mcp('without a key there are the tools of payers alone, on both paths'),
        mcp('an assistant pays over standard input, within its policy, once'),
      ]),
      rule('/llms.txt lists the pages', [
        'server/src/http/docs/docs.test.ts',
        'llms.txt lists the pages, and llms-full.txt holds them',
      ]),
      rule('Checks come in their order', [
        agentCreation(
          'checks come in their documented order, and no row is written before the last has passed',
        ),
        agentPreparation('checks of a preparation come in their documented order'),
      ]),
      rule('The identical request gets the identical answer', [
        agentCreation('the same request answers the same session, whatever has changed since'),
        agentCreation('100 identical creations at once make one session, and all get it'),
        agentPreparation(
          'the same preparation answers the same order, a fresh one an order with the same id',
        ),
      ]),
      rule('Only canonical signatures count; accounts with code answer for themselves', [
        signature('only the canonical form of a signature counts'),
        signature("an account with code never falls back to its key's own signature"),
      ]),
      rule(
        'Integers are canonical decimal strings',
        agentCreation('a message with a leading zero is refused with 400101'),
      ),
      rule(
        'Allowances are exact',
        agent('the allowance asked for is exact, and nothing is asked when it suffices'),
      ),
      rule('A custom link takes the total that the payer signs', [
        agentCreation('a custom link takes the total that the payer signs, and no price of its own'),
        offer('whatever total lies within the bounds of a custom link is taken in every token'),
      ]),
      rule(
        'A session of the AI protocol keeps its payer',
        agent('a session of the AI protocol keeps its payer and its token'),
      ),
      rule(
        'The e-mail address never goes on chain',
        agent('an e-mail address is asked for only when the link requires it, and never goes on chain'),
      ),
      rule(
        'Merchant text reaches agents as short clean data',
        merchantText(
          'whatever a merchant writes reaches an agent as one short line without hidden characters',
        ),
      ),
    ],
  },
  {
    title: 'Wire contract 9: Refunds',
    rules: [
      rule('A payment that is not settled goes back in full', [
        refunds('an unsettled payment goes back in full, and its session stays paid and shows it'),
        refundLife(
          'a payment that waits for its settlement goes back in full, and is never settled afterwards',
        ),
      ]),
      rule(
        'Once a settlement is on its way nothing goes back by the platform',
        refunds(
          'once a settlement is in a block, final or not, only the merchant’s wallet can give the payment back',
        ),
      ),
      rule(
        'refundedAmount shows what went back, and the status stays',
        refunds('an unsettled payment goes back in full, and its session stays paid and shows it'),
      ),
      rule(
        'Never more goes back than was paid',
        refunds('only all of a payment goes back before the settlement, and never more'),
      ),
      rule(
        'Refunds are read one by one and listed',
        refunds('refunds are listed newest first, to their own merchant alone'),
      ),
      rule('A settled payment is refunded by a transaction that the merchant signs', [
        settledRefunds(
          'a settled payment waits for the merchant’s own transaction, which pays its payer through the gateway',
        ),
        gaslessLife('after the settlement the merchant’s wallet gives the payer some of the payment back'),
      ]),
    ],
  },
];
