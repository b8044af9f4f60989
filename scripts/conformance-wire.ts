import {
  account,
  agent,
  type ConformanceSection,
  cancelRefusal,
  canonicalBody,
  capabilities,
  catalog,
  condition,
  delay,
  directLife,
  door,
  fee,
  fieldLimits,
  forms,
  ids,
  kill,
  limitOf,
  limits,
  linkRace,
  links,
  linkTerms,
  linkVersion,
  machine,
  money,
  once,
  openApi,
  pageSafety,
  pageView,
  pay,
  payment,
  products,
  protection,
  quote,
  rateLimit,
  refusal,
  reorg,
  rule,
  server,
  sessionStates,
  sessions,
  settlementMode,
  stranger,
  tokenSigning,
  webhook,
} from './conformance-proof.ts';

/** The wire contract: envelope, fields, money and session moves. */
export const wireSections: readonly ConformanceSection[] = [
  {
    title: 'Wire contract 1: Addresses and envelope',
    rules: [
      rule(
        'A page view writes no row',
        pageView(
          'the addresses of links and sessions lead to hosted pages that say what is paid, and viewing them writes no row',
        ),
      ),
      rule(
        'An unknown status in a list path is 404000',
        door('an unknown path is 404 with or without a key'),
      ),
      rule(
        '503 carries Retry-After',
        capabilities('over a halted chain no session begins: 503 with Retry-After, until it is resumed'),
      ),
      rule('Deprecation and Sunset headers announce a breaking change', [
        server(
          'every answer of a deprecated operation says since when, and when it ends; others say nothing',
        ),
        server('no operation ends within twelve months of its deprecation'),
        openApi('documents mark a deprecated operation, with its headers; none is today'),
      ]),
      rule(
        'Page windows shift as rows arrive, and the order stays',
        sessionStates('rows that arrive shift the windows of pages, and the order stays'),
      ),
      rule('HTTP 414 and 431 come with the envelope, or from the HTTP layer', [
        server('addresses that are too long get the envelope too'),
        server('headers that are too large get the envelope too'),
      ]),
      rule(
        'The base path alone decides the shape; a merchant path without a valid key is always 401',
        door('no header in Authorization is 401 with 200101, whatever the path'),
      ),
      rule('The Host header never changes content', agent('the Host header changes nothing that is signed')),
      rule(
        'AI answers are the envelope and the view at once',
        agent('a success is the view in the envelope and beside it'),
      ),
      rule('AI errors carry the envelope', agent('unknown links and sessions are refused in the envelope')),
      rule('Lists have hasMore, newest first, stable within one second', [
        catalog('lists are newest first, of one merchant, with the exact total'),
        sessions('every list holds the sessions of its status, pages as numbers'),
      ]),
      rule(
        'Lists for initialized and expired sessions',
        sessions('every list holds the sessions of its status, pages as numbers'),
      ),
      rule('Capabilities are public', door('capabilities are public, and say what pays towards what')),
      rule('etaSeconds is measured on the chains, and expected until it is', [
        capabilities(
          'routes show what is measured: final after the lag, a block and a poll, and payouts one finality later',
        ),
        condition('the time to finality is the worst of the last looks, with a block and a poll'),
        condition('until it is measured the time to finality is as configured, else as known of the chain'),
      ]),
      rule('A halted chain begins no payment, and shows in the capabilities, as a lagging one does', [
        delay('over a halted chain no payment begins, others go on, and all is well once it is resumed'),
        condition(
          'a chain without new blocks, or whose finality stands still, is delayed; a halted one is unavailable',
        ),
      ]),
      rule('No payment is taken that the vault may not pay out', [
        capabilities(
          'a vault’s cap for one order bounds the routes that it pays, and what it may not pay is none',
        ),
        condition('a vault bounds what is taken for it, and nothing else; what it may not pay is no route'),
      ]),
      rule('Idempotency-Key: the same body replays byte for byte, whatever its spelling', [
        once('a repeated request for a product gets the stored answer, byte for byte, and says so'),
        once('50 identical requests for a session at once have one effect'),
        once('the spelling of a body does not count'),
        canonicalBody('numbers are one exactly when they are equal'),
      ]),
      rule('Idempotency-Key: another body is 422, also where a double would hold the same', [
        once('a key for a product with another body is 422, and changes nothing'),
        once('numbers that a double confuses are other bodies, and so are keys that stand twice'),
      ]),
      rule(
        'Idempotency-Key: a request in flight is 409 with Retry-After',
        once(
          'while a request is under way an identical one is 409 with Retry-After, and then gets its answer',
        ),
      ),
      rule('Idempotency-Key: only successes are kept, for 30 days', [
        once('a refused request is not stored, and may be sent again'),
        once('answers are kept for 30 days, then deleted in batches, and their keys are new again'),
      ]),
      rule('Idempotency-Key: 1 to 255 characters, by merchant and path', [
        once('a key has 1 to 255 characters, and is looked at after the API key'),
        once("merchants' keys and a key on several paths are keys of their own"),
      ]),
      rule('Malformed JSON is 400, a body that is too large 413, another media type 415', [
        server('a body that is not JSON is refused with 400100'),
        server('a body over 256 KiB is refused with 400110'),
        server('a body of another type is refused with 400111'),
      ]),
      rule('Unknown routes are 404, other methods 405 with Allow', [
        door('an unknown path is 404 with or without a key'),
        door('another method on any known path is 405 with Allow'),
      ]),
      rule(
        'Errors carry slug, param, retryable, docUrl and requestId',
        server('a refusal is HTTP 200 with its code, slug and request id'),
      ),
      rule(
        'Bytes that are no HTTP request get the envelope too',
        server('bytes that are no HTTP request get the envelope too'),
      ),
      rule('Rates: reads, writes and lists per key', [
        rateLimit('every operation of the merchant API is a read, a write or a list'),
        rateLimit('over any time no caller gets more than the burst and the rate'),
        protection('each key has its rates for reads, writes and lists, told in headers'),
      ]),
      rule(
        'Rates: 20 reads a second and 60 creates a minute per address of the AI protocol',
        rateLimit(
          'one address may read 20 times a second and create 60 times a minute, under all base paths together',
        ),
      ),
      rule(
        'A payer has at most 20 open sessions',
        agent('a payer may have 20 open sessions, and no more at once'),
      ),
      rule(
        'No row is written before a signature checks',
        agent('checks come in their documented order, and no row is written before the last has passed'),
      ),
      rule('Unknown fields are refused, nested ones too', [
        server('an unknown field is refused with 400101'),
        server('an unknown nested field is refused with 400101'),
      ]),
      rule('A create refuses what it does not document', [
        products('a status is refused at status'),
        products('a merchantId is refused at merchantId'),
        links('a field of the reply is refused with 400101, and nothing is written'),
      ]),
      rule('An update takes what a read returned', [
        products('an update replaces every field and resets what is left out; a read sent back is taken'),
        links('sending a read back as an update is taken, and keeps version and status'),
      ]),
      rule('Actions on what is already in the wanted state succeed and raise nothing', [
        links('disabling and enabling again succeeds and emits nothing'),
        catalog('archiving moves once, with one event, and back'),
      ]),
      rule('Absent metadata is {}', sessions('absent metadata is an empty object')),
      rule('A POST without a body is 400100, without a JSON type 415', [
        server('a POST without a body is refused with 400100'),
        server('a body without a content type is refused with 400111'),
      ]),
    ],
  },
  {
    title: 'Wire contract 2: Fields and limits',
    rules: [
      rule('quantity is 1 to 10,000, and 1 for user_priced items', [
        limitOf('/payment/link/create', 'quantity 10,000', 'lineItems[0].quantity'),
        limitOf('/session/checkout/create', 'quantity 10,000', 'lineItems[0].quantity'),
        limitOf('/payment/link/create', 'quantity 1', 'lineItems[0].quantity'),
        fieldLimits(
          'a user_priced item has quantity 1 and no price, stands alone in a custom link, and nowhere else',
        ),
      ]),
      rule('1 to 20 line items in a link, 1 to 100 in a session', [
        limitOf('/payment/link/create', '20 line items', 'lineItems'),
        limitOf('/session/checkout/create', '100 line items', 'lineItems'),
        limitOf('/payment/link/create', 'at least one line item', 'lineItems'),
        limitOf('/session/checkout/create', 'at least one line item', 'lineItems'),
      ]),
      rule(
        'Texts of links: linkName 100, success and disabled text 500, successUrl https and 1000 characters',
        [
          limitOf('/payment/link/create', 'linkName'),
          limitOf('/payment/link/create', 'customSuccessText'),
          limitOf('/payment/link/create', 'customDisabledText'),
          limitOf('/payment/link/create', 'successUrl'),
          links('an http success URL is refused with 400101, and nothing is written'),
        ],
      ),
      rule('Attributes: name 40, value 200 characters; 100 productIds in one look-up', [
        limitOf('/product/create', 'attributes', 'attributes[0].name'),
        limitOf('/product/create', 'attributes', 'attributes[0].value'),
        limitOf('/product/list/by/ids', 'productIds'),
      ]),
      rule(
        'A deleted link reads as 100102',
        agent('a disabled link still has a view and takes no sessions; a deleted one has none'),
      ),
      rule('A removed product answers 100306 and is left out of by/ids', [
        catalog('a foreign product is not found, a removed one is said to be removed'),
        catalog(
          'reading by ids keeps the order asked for and leaves unknown, foreign and removed products out',
        ),
      ]),
      rule(
        'A product item of a session without unitPrice costs the first of commonPrices',
        sessions('a session is created initialized, whole, and read back the same'),
      ),
      rule(
        '{SESSION_ID} in successUrl is replaced, and the redirect comes only after paid',
        pageSafety(
          'the address to continue to is told after the payment alone, and is what the merchant gave',
        ),
      ),
      rule(
        'Sessions of the hosted link page have sessionType lnk',
        forms('a session of the hosted link page has sessionType lnk, and its link as its business'),
      ),
      rule(
        'A wrong clientCode is 100202',
        pageSafety('a session gives its e-mail address and receipt to its own secret alone'),
      ),
      rule(
        'Ids are their prefix and 22 base62 characters',
        ids('every kind of id is its prefix and 22 base62 characters'),
      ),
      rule('Item and session totals are at most ten million dollars', [
        linkTerms('a link totals at most ten million dollars, exactly'),
        fieldLimits('a session totals at most ten million dollars, exactly'),
      ]),
      rule('A version moves with every real edit and with nothing else', [
        linkVersion('changing any one agreed field moves the version'),
        linkVersion('ids of line items and the states of products keep the version'),
        links('editing a product moves the version of its links'),
      ]),
      rule('metadata has at most 16 KiB and 8 levels', [
        sessions('metadata of one byte more than 16 KiB is refused'),
        sessions('metadata of 9 levels is refused'),
      ]),
      rule('Bodies nest at most 16 levels, in UTF-8', [
        server('nesting beyond 16 is refused with 400100'),
        server('invalid UTF-8 is refused with 400100'),
      ]),
      rule('NUL and lone surrogates are refused', [
        server('NUL in a text is refused with 400101'),
        server('a lone surrogate is refused with 400101'),
      ]),
      rule('A price is 1 to 10,000,000,000,000', [
        limitOf('/product/create', 'commonPrices', 'commonPrices[0]'),
        limitOf('/session/checkout/create', 'a price of ten million dollars', 'lineItems[0].unitPrice'),
      ]),
      rule(
        'clientCode is hidden from restricted keys',
        sessions('restricted keys never see the secret of the page'),
      ),
      rule(
        'Webhook keys are masked without webhook_secrets:read',
        webhook('the key is masked to its last four characters for who may not see it'),
      ),
      rule('expirationTime is at most 30 days ahead, with 5 seconds of grace', [
        limits('a session that ends in a second more than 30 days is answered with 100208'),
        limits('a session that ends in 1800 seconds less the grace is answered with 0'),
      ]),
    ],
  },
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
        'server/src/start-check.test.ts',
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
