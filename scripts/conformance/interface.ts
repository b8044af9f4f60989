import {
  account,
  agent,
  agentCreation,
  apiKey,
  type ConformanceSection,
  cancelRefusal,
  catalog,
  delivery,
  deliveryFailure,
  door,
  errors,
  examples,
  imageLife,
  imageShown,
  limitOf,
  limits,
  links,
  linkVersion,
  openApi,
  outbox,
  payment,
  products,
  refusal,
  rule,
  server,
  serverRefusal,
  sessionStates,
  sessions,
  signature,
  urlPolicy,
  webhook,
} from './proof.ts';

/** The specification: endpoints, authentication, events, errors, limits and versions. */
export const interfaceSections: readonly ConformanceSection[] = [
  {
    title: 'Specification: Endpoints',
    rules: [
      rule('Every merchant endpoint exists under its method and path', [
        examples('every endpoint of the specification exists under its method and path'),
        openApi('the document holds every route of every table under its own path and method'),
        [
          'server/src/http/docs/drift.test.ts',
          'every route of the server is documented, or known to be undocumented',
        ],
      ]),
      rule(
        'product/create answers the product',
        products('a product is created with what may be left out empty, listed, and read by id'),
      ),
      rule(
        'product/update replaces everything; fields left out are reset',
        products('an update replaces every field and resets what is left out; a read sent back is taken'),
      ),
      rule('product/update downloads a new image, which later reads show', imageLife(imageShown)),
      rule('product/list: page from 1, size up to 100, both back as strings', [
        products('a product is created with what may be left out empty, listed, and read by id'),
        serverRefusal('page 0 is refused with 400101'),
        serverRefusal('size 101 is refused with 400101'),
      ]),
      rule(
        'product/list/by/ids leaves unknown ids out',
        catalog(
          'reading by ids keeps the order asked for and leaves unknown, foreign and removed products out',
        ),
      ),
      rule(
        'product/archive and unarchive answer success',
        catalog('archiving moves once, with one event, and back'),
      ),
      rule(
        'product/remove only when no link, disabled and deleted ones included, ever referenced the product',
        [
          links('a product that a link ever referenced cannot be removed, one of sessions alone can'),
          catalog('a product that a link references stays marked for good'),
        ],
      ),
      rule(
        'account/detail and account/list, the list without pages',
        door('accounts are read one by one and all together, by their own merchant alone'),
      ),
      rule('payment/link/create takes fixed and custom links', [
        links('a fixed link is created active, nested as documented, and read back in detail'),
        links('a custom link without a product shows its name'),
      ]),
      rule(
        'payment/link/create refuses a fee model that is neither 1 nor 2',
        links('fee model 3 is refused with 400101, and nothing is written'),
      ),
      rule('payment/link/create refuses accounts and tokens that are not there', [
        links('an unknown account is refused with 100401, and nothing is written'),
        links('a token that the account does not take is refused with 100404, and nothing is written'),
      ]),
      rule(
        'payment/link/update replaces everything',
        links('an update replaces every field, resets what is left out, and moves the version'),
      ),
      rule(
        'payment/link/:linkId answers the detail',
        links('a fixed link is created active, nested as documented, and read back in detail'),
      ),
      rule(
        'payment/link/list answers pages as strings',
        links('lists are newest first, without productData, pages as strings'),
      ),
      rule(
        'session/checkout/create answers an initialized session',
        sessions('a session is created initialized, whole, and read back the same'),
      ),
      rule(
        'session/checkout/create: expirationTime is 30 minutes ahead by default and never nearer than 1800 seconds',
        [
          limits('a session lives for 30 minutes unless told otherwise'),
          limits('a session that ends in a second less than that is answered with 100208'),
        ],
      ),
      rule('session/checkout/cancel answers success', sessions('one unsigned session is cancelled once')),
      rule(
        'session/:sessionId answers the session, and its transaction once paid',
        payment('paid and settled: a link, the merchant pays the fee'),
      ),
      rule(
        'session lists for all, paid, settling, completed, cancelled and settlement_pending, pages as numbers',
        [
          sessions('every list holds the sessions of its status, pages as numbers'),
          sessionStates(
            'a list of a status holds the sessions in it and no others, and the list of all holds all',
          ),
        ],
      ),
      rule(
        'webhook/create answers the webhook with its key, active',
        webhook('a new webhook is active and carries its key'),
      ),
      rule(
        'webhook/update, disable, enable, key/refresh, remove, detail and list',
        door('a webhook is changed, stopped, started, given a new key and deleted'),
      ),
      rule(
        'webhook/update replaces everything',
        webhook('an update replaces every field and resets the omitted ones; the key stays'),
      ),
      rule(
        'webhook/key/refresh: the old key is invalid at once',
        delivery('retries are signed with the key of the moment, and with both during an overlap'),
      ),
      rule(
        'webhook/remove deletes for good',
        webhook('a refreshed key is another one, and the removed webhook is gone'),
      ),
      rule(
        'AI: the link view, session create, session view and prepare',
        agent('a link becomes a session, and a session a transaction that pays it'),
      ),
      rule(
        'AI: create and prepare need every field of their message',
        agentCreation('a message with a missing field is refused with 400101'),
      ),
      rule('AI: create is answered in the envelope, the others can be read without it', [
        agent('a success is the view in the envelope and beside it'),
        server('the superset shape repeats the members of the view beside the envelope'),
      ]),
    ],
  },
  {
    title: 'Specification: Authentication',
    rules: [
      rule('Authorization: Bearer and the key, with exactly one space', [
        door('two spaces in Authorization is 401 with 200101, whatever the path'),
        door('one space before the key is right'),
        apiKey('a header that is not Bearer, one space and a word is malformed'),
      ]),
      rule('Secret keys may do everything, restricted keys what they were given; prefixes tell them apart', [
        apiKey('a secret key may do everything, a restricted one what its preset or list says'),
        apiKey('a key has its prefix, 43 characters of chance and a CRC-32 of all before it'),
      ]),
      rule('A missing, invalid, expired or revoked key is 401', [
        door('no header in Authorization is 401 with 200101, whatever the path'),
        door('an unknown key in Authorization is 401 with 200102, whatever the path'),
        door('an expired key is 401 with 200102'),
        apiKey('an unknown, an expired and a revoked key are all answered alike'),
      ]),
      rule('The signature proves the payer and authorizes exactly this amount, token and chain', [
        signature('digests of creations are those of ethers'),
        agentCreation('a creation with one unit too much is refused with 100609 although it is signed'),
      ]),
      rule('The domain is aipay. and the service’s domain, version 1, and the chain of the payment', [
        agent('a link offers every token with the fee in the amount, and a message to sign'),
        agent('the Host header changes nothing that is signed'),
      ]),
      rule(
        'PaymentSessionCreationAuthorization has exactly these fields in this order',
        signature('digests of creations are those of ethers'),
      ),
      rule(
        'PreparePaymentAuthorization has exactly these fields in this order',
        signature('digests of preparations are those of ethers'),
      ),
      rule(
        'The nonce prevents replay',
        agentCreation('a known nonce with anything else is refused with 100604'),
      ),
      rule(
        'authorizationExpiresAt ends the signature',
        agentCreation('an authorization is good until the second before its expiry'),
      ),
      rule(
        'authorizationSpec of the answer before says what to sign',
        agent('a link becomes a session, and a session a transaction that pays it'),
      ),
    ],
  },
  {
    title: 'Specification: Events',
    rules: [
      rule('Notifications are posted to each active webhook for the types that it subscribes to', [
        outbox('a delivery is queued for each webhook that subscribes by name, by pattern or to all'),
        delivery('a committed event arrives signed, byte for byte, and its attempt is logged'),
      ]),
      rule(
        'session.paid and session.completed are raised',
        payment('paid and settled: a link, the merchant pays the fee'),
      ),
      rule(
        'Repeated failures pause the webhook; POST /webhook/enable restores it',
        deliveryFailure(
          '410 pauses a webhook at once: its other webhooks hear of it, its deliveries wait, enabling sends them',
        ),
      ),
    ],
  },
  {
    title: 'Specification: Errors',
    rules: [
      rule(
        'Answers are {code, message, data}; 0 is success',
        server('a success is wrapped in the envelope, and raw JSON stays byte for byte'),
      ),
      rule('Business errors are HTTP 200 with a non-zero code', [
        server('a refusal is HTTP 200 with its code, slug and request id'),
        errors('business errors answer 200; the others use the statuses of the wire contract'),
      ]),
      rule('Authentication failures of the merchant API are 401, and nothing else is', [
        door('no header in Authorization is 401 with 200101, whatever the path'),
        door('an unknown key in Authorization is 401 with 200102, whatever the path'),
        errors('business errors answer 200; the others use the statuses of the wire contract'),
      ]),
      rule('Cancelling a session that is not initialized fails', [
        cancelRefusal('expired', 100203),
        cancelRefusal('paid and signed', 100204),
        cancelRefusal('settling and signed', 100204),
        cancelRefusal('completed and signed', 100204),
        cancelRefusal('settlement_pending and signed', 100204),
        cancelRefusal('cancelled', 100205),
      ]),
      rule('Cancelling a session with signedOnce 1 fails', [
        cancelRefusal('initialized and signed', 100207),
        refusal('a session with a signed order cannot be cancelled'),
      ]),
      rule(
        'Removing a product that a link ever referenced fails',
        links('a product that a link ever referenced cannot be removed, one of sessions alone can'),
      ),
      rule(
        'Unknown ids in a batch lookup are no error',
        catalog(
          'reading by ids keeps the order asked for and leaves unknown, foreign and removed products out',
        ),
      ),
      rule(
        'A product with an image that cannot be reached is created without it',
        imageLife('a source that fails leaves a product without an image, new or old, and says why'),
      ),
    ],
  },
  {
    title: 'Specification: Limits',
    rules: [
      rule('20 accounts per merchant', account('of thirty accounts created at once, a merchant gets twenty')),
      rule('10 webhooks per merchant', webhook('of 15 webhooks created at once exactly 10 come to be')),
      rule('Webhook URLs are https', urlPolicy('only https is taken, and no credentials')),
      rule('webhookName up to 100, webhookUrl up to 1000, webhookDescription up to 1000 characters', [
        limitOf('/webhook/create', 'webhookName'),
        limitOf('/webhook/create', 'webhookDescription'),
        limitOf('/webhook/create', 'webhookUrl'),
      ]),
      rule(
        'Characters are counted, not bytes or code units',
        serverRefusal('five astral characters fit a text of five'),
      ),
      rule('Pages from 1, at most 100 entries', [
        serverRefusal('page 0 is refused with 400101'),
        serverRefusal('size 101 is refused with 400101'),
      ]),
    ],
  },
  {
    title: 'Specification: Versioning',
    rules: [
      rule(
        'The merchant API ends with /payment/v1',
        openApi('the document holds every route of every table under its own path and method'),
      ),
      rule('Links carry their version, and creating a session must name the current one', [
        agentCreation('a creation with an old version is refused with 100104 although it is signed'),
        linkVersion('two links have one version exactly when payers agree to the same'),
      ]),
      rule(
        'An address that is removed and created again has a new version',
        account('an address is used by one account of a merchant at a time, and its return is a new version'),
      ),
    ],
  },
];
