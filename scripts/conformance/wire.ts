import {
  agent,
  agentCreation,
  type ConformanceSection,
  canonicalBody,
  capabilities,
  catalog,
  condition,
  delay,
  door,
  fieldLimits,
  forms,
  ids,
  limitOf,
  limits,
  links,
  linkTerms,
  linkVersion,
  once,
  openApi,
  pageSafety,
  pageView,
  products,
  protection,
  rateLimit,
  rule,
  server,
  serverRefusal,
  sessionStates,
  sessions,
  webhook,
} from './proof.ts';

/** The wire contract: envelope and fields. */
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
        serverRefusal('a body that is not JSON is refused with 400100'),
        serverRefusal('a body over 256 KiB is refused with 400110'),
        serverRefusal('a body of another type is refused with 400111'),
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
        agentCreation('a payer may have 20 open sessions, and no more at once'),
      ),
      rule(
        'No row is written before a signature checks',
        agentCreation(
          'checks come in their documented order, and no row is written before the last has passed',
        ),
      ),
      rule('Unknown fields are refused, nested ones too', [
        serverRefusal('an unknown field is refused with 400101'),
        serverRefusal('an unknown nested field is refused with 400101'),
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
        serverRefusal('a POST without a body is refused with 400100'),
        serverRefusal('a body without a content type is refused with 400111'),
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
        serverRefusal('nesting beyond 16 is refused with 400100'),
        serverRefusal('invalid UTF-8 is refused with 400100'),
      ]),
      rule('NUL and lone surrogates are refused', [
        serverRefusal('NUL in a text is refused with 400101'),
        serverRefusal('a lone surrogate is refused with 400101'),
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
];
