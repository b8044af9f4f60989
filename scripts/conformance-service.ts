import {
  agent,
  apiKey,
  type ConformanceSection,
  deliveries,
  delivery,
  deliveryFailure,
  door,
  egress,
  errors,
  eventBody,
  events,
  linkTerms,
  merchantText,
  offer,
  outbox,
  payment,
  protection,
  refundLife,
  refunds,
  retry,
  rule,
  server,
  signature,
  signedWebhook,
  urlPolicy,
  webhook,
} from './conformance-proof.ts';

/** The wire contract: keys, webhooks, errors, the AI protocol and refunds. */
export const serviceSections: readonly ConformanceSection[] = [
  {
    title: 'Wire contract 5: API keys',
    rules: [
      rule('The presets fulfilment and agent hold what they are named for', 'not yet'),
      rule('A storefront key needs a list of origins', 'not yet'),
      rule(
        'Only the hash and the last four characters are stored',
        apiKey('only the hash and the last four characters of a key are stored'),
      ),
      rule('read_only is every read but personal data and webhook secrets', [
        apiKey('read_only is every read but personal data and webhook secrets'),
        door('a read_only key reads and never writes'),
      ]),
      rule(
        'storefront reads one session and no lists',
        door('a storefront key reads one session and no lists'),
      ),
      rule(
        'A missing permission is 403 with 200103 and names the scope',
        door('a key without any of the permissions of a route is 403 with 200103, naming them'),
      ),
      rule('A key ends at its expiry, and at once when it is revoked', [
        apiKey('a key works until the moment at which it expires'),
        ['cli/src/main.test.ts', 'a key that was created works until it is revoked, and no list shows it'],
      ]),
      rule('A key may be bound to addresses and to origins', [
        protection(
          'a key may be used from its addresses alone; elsewhere it is as invalid as an unknown one',
        ),
        protection('a storefront key may be used from its origins alone'),
      ]),
      rule('A key may have a largest amount per session and per day', [
        protection('one session may come to the limit of its key and no further'),
        protection('100 sessions at once on two replicas never come to more than the day allows'),
      ]),
    ],
  },
  {
    title: 'Wire contract 6: Webhooks',
    rules: [
      rule('1 to 50 subscribed events', 'not yet'),
      rule(
        '15 seconds to answer; a slow receiver delays nobody else',
        delivery('a receiver that hangs delays nobody else'),
      ),
      rule(
        'HTTP 410 pauses at once, and webhook.paused tells the other webhooks',
        deliveryFailure(
          '410 pauses a webhook at once: its other webhooks hear of it, its deliveries wait, enabling sends them',
        ),
      ),
      rule(
        'Sessions of the AI protocol raise the same events',
        payment('paid and settled: a link, the merchant pays the fee'),
      ),
      rule(
        'A restricted key sees in events what it sees in sessions',
        events('a restricted key sees in events what it sees in sessions'),
      ),
      rule('Signed as Standard Webhooks prescribes', [
        signedWebhook('the stock verifier takes every body that we sign'),
        payment('every delivery verifies with the stock Standard Webhooks library'),
      ]),
      rule(
        'The body is id, type, apiVersion, timestamp, sequence and data',
        outbox('a body carries its envelope in the documented order and the data byte for byte'),
      ),
      rule(
        'sequence counts the events of one object from 1',
        outbox('sequences count the events of each object from 1, within one call and across calls'),
      ),
      rule(
        'Over 64 KiB productData is dropped and truncated said',
        eventBody('a body over 64 KiB drops productData and says so, and keeps the metadata byte for byte'),
      ),
      rule(
        'Unknown event types are 100504',
        webhook('an unknown event type is refused by name, a forbidden URL by rule'),
      ),
      rule('Ten attempts over 75.6 hours, with a tenth of jitter', [
        retry('ten attempts span 75.6 hours, then the schedule is through'),
        retry('jitter keeps every wait within a tenth of the schedule'),
      ]),
      rule(
        'A longer Retry-After is honoured up to 24 hours',
        retry('a longer Retry-After is honoured up to 24 hours, a shorter or unreadable one changes nothing'),
      ),
      rule('Redirects fail', delivery('redirects are failures and are not followed')),
      rule(
        'Order is kept per object, and other objects do not wait',
        delivery('events of one object arrive in order whatever fails, and other objects do not wait for it'),
      ),
      rule(
        'An event that a change raised is never lost, and none is raised by a change that was rolled back',
        [
          outbox('a transaction that rolls back leaves neither event nor delivery'),
          deliveryFailure("a crashed worker's claim runs out and the event is sent again under the same id"),
        ],
      ),
      rule('Private targets are refused in any spelling, when given and at every connection', [
        urlPolicy('every spelling of a private, special or local host is refused'),
        egress('no spelling of a private target is ever connected to'),
        egress('a name that turns private after its first answer is refused at the next connection'),
      ]),
      rule(
        'Key refresh with overlapSeconds signs with both keys',
        delivery('retries are signed with the key of the moment, and with both during an overlap'),
      ),
      rule(
        'webhook/test goes to that webhook alone',
        deliveries(
          'a test goes to its webhook alone, whatever it subscribes to, and waits for no other test',
        ),
      ),
      rule(
        'Deliveries are listed with their attempts',
        deliveries('deliveries are listed newest first with their attempts'),
      ),
      rule(
        'A delivery can be sent again',
        deliveries('a resent delivery waits while its webhook is not active'),
      ),
      rule(
        'replaySince sends what was skipped',
        deliveryFailure(
          'disabling stops retries; events raised meanwhile are sent only when replayed, with a fresh schedule',
        ),
      ),
      rule('Events can be listed, filtered and read for 90 days', [
        events('events are listed newest first, page by page'),
        events('a type or a pattern filters them, and an unknown one is 100504'),
        events('an event is read byte for byte, metadata included'),
        events('an event of another merchant is unknown, and one of 90 days ago is gone'),
      ]),
      rule('Images: one request without redirects, bounded, re-encoded', 'not yet'),
    ],
  },
  {
    title: 'Wire contract 7: Error codes',
    rules: [
      rule('Codes for gasless methods, deposit addresses and statistics are answered', 'not yet'),
      rule('Every code stands once, with its HTTP status', [
        errors('every code stands once and none is zero'),
        errors('business errors answer 200; the others use the statuses of the wire contract'),
      ]),
      rule('Messages read Text: detail', errors('a refusal reads `Text: detail`')),
      rule(
        'One code when all products fail, another when some do',
        linkTerms('one code when all products fail, another when some do'),
      ),
      rule('Every code has a page, and every code that the server uses is documented', [
        ['server/src/http/docs/drift.test.ts', 'every error of the catalogue has a page'],
        [
          'server/src/http/docs/drift.test.ts',
          'every error that the server names is answered by an operation or by the server itself',
        ],
      ]),
      rule('An outage is answered as retryable, a bug generically', [
        server('a bug is answered generically and logged in full'),
        server('a wrong column is a bug, not an outage'),
      ]),
    ],
  },
  {
    title: 'Wire contract 8: AI protocol',
    rules: [
      rule('Gasless submit, deposit addresses, x402 and MCP', 'not yet'),
      rule('/llms.txt lists the pages', [
        'server/src/http/docs/docs.test.ts',
        'llms.txt lists the pages, and llms-full.txt holds them',
      ]),
      rule('Checks come in their order', [
        agent('checks come in their documented order, and no row is written before the last has passed'),
        agent('checks of a preparation come in their documented order'),
      ]),
      rule('The identical request gets the identical answer', [
        agent('the same request answers the same session, whatever has changed since'),
        agent('100 identical creations at once make one session, and all get it'),
        agent('the same preparation answers the same order, a fresh one an order with the same id'),
      ]),
      rule('Only canonical signatures count; accounts with code answer for themselves', [
        signature('only the canonical form of a signature counts'),
        signature("an account with code never falls back to its key's own signature"),
      ]),
      rule(
        'Integers are canonical decimal strings',
        agent('a message with a leading zero is refused with 400101'),
      ),
      rule(
        'Allowances are exact',
        agent('the allowance asked for is exact, and nothing is asked when it suffices'),
      ),
      rule('A custom link takes the total that the payer signs', [
        agent('a custom link takes the total that the payer signs, and no price of its own'),
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
        refunds('nothing goes back once a settlement is in a block, final or not'),
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
      rule('A settled payment is refunded by a transaction that the merchant signs', 'not yet'),
    ],
  },
];
