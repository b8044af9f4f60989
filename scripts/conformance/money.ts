import {
  account,
  agent,
  type ConformanceSection,
  cancelRefusal,
  delay,
  directLife,
  fee,
  kill,
  linkRace,
  links,
  machine,
  money,
  pay,
  payment,
  quote,
  refusal,
  reorg,
  rule,
  sessions,
  settlementMode,
  stranger,
  tokenSigning,
} from './proof.ts';

/** The wire contract: money and session moves. */
export const moneySections: readonly ConformanceSection[] = [
  {
    title: 'Wire contract 3: Money',
    rules: [
      rule(
        'Permit kinds are configured by token and compared with the chain',
        tokenSigning('what differs from the configuration is told, and nothing when it expects nothing'),
      ),
      rule(
        'A total that the payer chose is split without losing a unit',
        fee('a total that the payer chose is split without losing a unit'),
      ),
      rule('6 decimals count 1:1, 18 by 10^12, fewer than 6 are refused', [
        money('one Micro-USD is one unit at 6 decimals and 10^12 units at 18'),
        money('fewer than 6 or more than 18 decimals are refused'),
      ]),
      rule('Fees by route, rounded up once', [
        fee('the fee is rounded up to the next Micro-USD, once'),
        quote(
          'routes to a token: the same token first, then its chain, then other chains, each with its rate',
        ),
      ]),
      rule(
        'feeValue is always totalValue - netValue',
        fee(
          'fee = total - net, total covers the price and nobody gains a unit, for every price, rate and model',
        ),
      ),
      rule('18 decimals and other tokens pay exactly', [
        payment('paid and settled: a token with 18 decimals'),
        payment('paid and settled: in another token of the same chain'),
      ]),
      rule('Tokens are read back from the chain at the start', [
        'server/src/start/check.test.ts',
        'a token that is not what the configuration says is refused',
      ]),
    ],
  },
  {
    title: 'Wire contract 4: Session moves',
    rules: [
      rule('Cancelling says why not: 100205 cancelled, 100207 signed', [
        sessions('one unsigned session is cancelled once'),
        refusal('a session with a signed order cannot be cancelled'),
      ]),
      rule('Cancelling an expired session is 100203, a paid one 100204', [
        cancelRefusal('expired', 100203),
        cancelRefusal('expired and signed', 100203),
        cancelRefusal('paid and signed', 100204),
      ]),
      rule(
        'Enabling a link with an archived product is 100304',
        links(
          'archiving a product disables its links and keeps their version; unarchiving leaves them disabled',
        ),
      ),
      rule(
        'An update keeps a disabled link disabled',
        links('sending a read back as an update is taken, and keeps version and status'),
      ),
      rule(
        'Archiving a product leaves open sessions payable',
        agent('archiving a product closes its links, and leaves their open sessions payable'),
      ),
      rule(
        'The second payment of a session raises session.exception',
        delay(
          'two payments on two chains: the first final one counts, the other goes back to its payer in full',
        ),
      ),
      rule('Direct settlement is chosen by account or configuration', [
        settlementMode(
          'the account decides, and where it says nothing the configuration, and where that says nothing the gateway holds',
        ),
        directLife('an account that says nothing goes by the configuration'),
        account(
          'how an account is settled is chosen at its creation or later, told to webhooks, and keeps its version',
        ),
      ]),
      rule('A direct payment is paid and completed in one transaction, with both events', [
        directLife('a direct payment by transaction is paid and completed at once, with one transaction'),
        directLife(
          'a direct payment that is in a block but not final makes nothing paid, and a reorg takes it out',
        ),
        directLife(
          'what was paid straight to the merchant goes back by the wallet of the merchant, in parts',
        ),
      ]),
      rule('A direct order is signed only while no order on another chain can be paid', [
        settlementMode('a direct order is signed only while no other chain has one that can be paid'),
        settlementMode(
          'while a direct order can be paid other chains are refused, also when the account has changed its mind',
        ),
        directLife(
          'while another chain has an order that can be paid, the payment is held, and the later one goes back',
        ),
      ]),
      rule('Every move is one row of a table', [
        machine('the table is total: every pair of status and trigger either moves as written or is refused'),
        machine('no pair has two moves'),
      ]),
      rule(
        'payment_detected in a block, paid when final',
        reorg(
          'a payment that a reorg takes out before finality is undetected, and detected again when it comes back',
        ),
      ),
      rule(
        'A payment that never becomes final pays nothing',
        reorg(
          'a payment that never comes back leaves the session unpaid and the merchant without a paid event',
        ),
      ),
      rule(
        'A signed session expires by the time of the chain',
        refusal('an expired session cannot be paid on chain, and closes by the chain’s time'),
      ),
      rule(
        'A block at the deadline still counts',
        refusal('a payment in a block at the deadline still counts'),
      ),
      rule('On one chain a session is paid once, whoever pays', [
        refusal('of two payers of one session exactly one pays; the money of the other never moves'),
        pay('test_reverts_whenAnotherOrderOfTheSessionWasPaid'),
      ]),
      rule(
        'Across chains the first final payment wins, and the other goes back in full',
        delay(
          'two payments on two chains: the first final one counts, the other goes back to its payer in full',
        ),
      ),
      rule(
        'Prepare on a session that is paid is refused',
        refusal('a second payment by the same payer reverts, and prepare says that the session is paid'),
      ),
      rule(
        'Exactly once, whatever dies',
        kill('SIGKILL at ten random points of payments loses nothing and doubles nothing'),
      ),
      rule('Whoever calls settle, and however many services run, each payment settles once', [
        stranger('a stranger who settles in the block of the payment completes the session, once, in order'),
        stranger('two services over one database settle each of many payments once'),
      ]),
      rule(
        'A vault that is short delays a payout, which is made once',
        delay('a payout beyond the vault’s float waits, and is made once when the float is there'),
      ),
      rule('An account that is removed disables its links, whatever happens to them meanwhile', [
        ['cli/src/main.test.ts', 'removing an account disables its links, each with an event'],
        linkRace('a link that is being enabled while its account is removed ends disabled'),
        linkRace(
          'a link that moves to another account while it is enabled is never active over a removed one',
        ),
        linkRace('a link that is made while its account is removed ends disabled'),
      ]),
      rule('Direct orders pay and settle in one transaction', pay('test_paysMerchantAndFeeAtOnceWhenDirect')),
      rule('A late payment to a deposit address is accepted by policy', [
        'server/test/life/deposit-policy.test.ts',
        'a late deposit is the payment where the policy says so, and the session tells that it was late',
      ]),
    ],
  },
];
