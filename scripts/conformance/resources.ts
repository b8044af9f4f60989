import {
  account,
  agent,
  type ConformanceSection,
  delay,
  deliveryFailure,
  door,
  examples,
  fee,
  fieldLimits,
  imageLife,
  imageShown,
  limitOf,
  limits,
  links,
  linkTerms,
  machine,
  merchantText,
  money,
  outbox,
  pageView,
  payment,
  products,
  refusal,
  reorg,
  rule,
  sessionStates,
  sessions,
  signature,
  stages,
  webhook,
} from './proof.ts';

/** The specification: what the service does, its resources and their states. */
export const resourceSections: readonly ConformanceSection[] = [
  {
    title: 'Specification: What the service does',
    rules: [
      rule('Payers pay on chain, and the money reaches the merchant’s collection wallet', [
        payment('paid and settled: a link, the merchant pays the fee'),
        payment('paid and settled: across chains'),
      ]),
      rule(
        'Products are sold through reusable links and through one-time sessions, with the same kind of session',
        [
          payment('paid and settled: a link, the payer pays the fee'),
          payment('paid and settled: a checkout session, the merchant pays the fee'),
        ],
      ),
      rule(
        'Links and sessions open a hosted checkout page',
        pageView(
          'the addresses of links and sessions lead to hosted pages that say what is paid, and viewing them writes no row',
        ),
      ),
      rule('The API can only read collection accounts', examples('no operation changes collection accounts')),
      rule('An agent needs no key: the payer’s wallet signs every call that changes something', [
        agent('a link becomes a session, and a session a transaction that pays it'),
        signature("a plain account's signature counts, made by ethers or by viem"),
      ]),
      rule('Prices are integers in Micro-USD', [
        products('a price as text is refused at commonPrices[0]'),
        money('Micro-USD to token units and back is the identity for 6 to 18 decimals'),
      ]),
    ],
  },
  {
    title: 'Specification: Resources and their fields',
    rules: [
      rule('Timestamps read YYYY-MM-DD HH:MM:SS; expirationTime is Unix seconds', [
        sessions('a session is created initialized, whole, and read back the same'),
        examples('every example of an answer validates against its schema, failures included'),
      ]),
      rule(
        'Product: id with its prefix, name up to 100, description up to 1000, 1 to 5 prices, up to 10 attributes',
        [
          products('a product is created with what may be left out empty, listed, and read by id'),
          limitOf('/product/create', 'name'),
          limitOf('/product/create', 'description'),
          limitOf('/product/create', 'commonPrices'),
          limitOf('/product/create', 'attributes'),
        ],
      ),
      rule('Product: imageUrl is https and has at most 500 characters', [
        products('an http image is refused at imageUrl'),
        limitOf('/product/create', 'imageUrl'),
      ]),
      rule(
        'Product: the image is downloaded, and the URL returned is that of the hosted copy',
        imageLife(imageShown),
      ),
      rule(
        'List items carry createAt',
        products('a product is created with what may be left out empty, listed, and read by id'),
      ),
      rule('Line items have ids with their prefix; one_time items have an empty productId', [
        sessions('a session is created initialized, whole, and read back the same'),
      ]),
      rule(
        'product items of a link need a unitPrice above 0',
        linkTerms('a fixed link takes priced products, quantity 1 when none is given'),
      ),
      rule('user_priced items belong to custom links alone, with unitPrice left out or 0', [
        fieldLimits(
          'a user_priced item has quantity 1 and no price, stands alone in a custom link, and nowhere else',
        ),
        linkTerms('a custom link takes one user_priced item, with or without a product'),
        links('a custom link with a product item is refused with 100105, and nothing is written'),
      ]),
      rule(
        'one_time items live in their session and never enter the product library',
        limits('one_time items live in their session and never enter the product library'),
      ),
      rule(
        'The image of a one_time item is hosted for its session',
        imageLife('the image of a one_time item is hosted, shown with its session and kept for it'),
      ),
      rule(
        'Line items in link lists have no productData',
        links('lists are newest first, without productData, pages as strings'),
      ),
      rule(
        'productData in a link’s detail says the status of the product',
        links('a fixed link is created active, nested as documented, and read back in detail'),
      ),
      rule('Account: every field, and a version that tells an address from the same one created anew', [
        account('a new account is stored, shown and told to webhooks alike'),
        account('an address is used by one account of a merchant at a time, and its return is a new version'),
      ]),
      rule(
        'Payment link: the create reply nests items and amount; the detail has account and token information',
        links('a fixed link is created active, nested as documented, and read back in detail'),
      ),
      rule(
        'Session: every field, with payer, e-mail, token and transactions empty at creation and times null',
        sessions('a session is created initialized, whole, and read back the same'),
      ),
      rule('Session: sessionType is chk for the API and ai_checkout for the AI protocol', [
        sessions('a session is created initialized, whole, and read back the same'),
        agent('a link becomes a session, and a session a transaction that pays it'),
      ]),
      rule(
        'Session: metadata comes back unchanged',
        sessions('metadata comes back byte for byte, whatever the spelling'),
      ),
      rule(
        'Session: after payment it has payer, paidToken, receipt and transaction hashes',
        payment('paid and settled: a checkout session, the payer pays the fee'),
      ),
      rule(
        'Transaction: on-chain details only for sessions that are paid or further',
        payment('paid and settled: a link, the merchant pays the fee'),
      ),
      rule('Fee model 1: net = payment - fee. Fee model 2: net = payment, and the total holds the fee', [
        fee(
          'fee = total - net, total covers the price and nobody gains a unit, for every price, rate and model',
        ),
        payment('paid and settled: a link, the payer pays the fee'),
      ]),
      rule('Webhook: every field, with the signing key made at creation', [
        webhook('a new webhook is active and carries its key'),
        door('webhooks show their key at creation, and later to keys that may see it'),
      ]),
      rule('AI link view: prices as decimal strings, tokens with their amounts, and what to sign', [
        agent('a link offers every token with the fee in the amount, and a message to sign'),
        merchantText('line items show cleaned product data and the price in dollars'),
      ]),
      rule(
        'aiView is part of every answer, with pricing model and workflow',
        agent('a link becomes a session, and a session a transaction that pays it'),
      ),
      rule(
        'A session without payer or token gets completePaymentSessionGuide instead',
        agent('a session of a merchant asks for payer and token, and is prepared with the choice'),
      ),
      rule(
        'Prepare answers an execution request with transaction and review text',
        agent('a link becomes a session, and a session a transaction that pays it'),
      ),
    ],
  },
  {
    title: 'Specification: States and transitions',
    rules: [
      rule(
        'initialized, paid, settling, completed: a payment goes through them',
        payment('paid and settled: a link, the merchant pays the fee'),
      ),
      rule('settlement_pending: a delayed settlement is retried by itself and pays once', [
        reorg(
          'a settlement that a reorg takes out shows settlement_pending and heals by the same transaction',
        ),
        delay('a blocked recipient delays only its own order, and is paid once it is unblocked'),
      ]),
      rule('expired: not paid in time, closed', [
        sessionStates(
          'an unsigned session closes when its time is over, not before, and cannot be cancelled then',
        ),
        refusal('an expired session cannot be paid on chain, and closes by the chain’s time'),
      ]),
      rule('cancelled: by the merchant, from initialized with signedOnce 0 alone', [
        sessions('one unsigned session is cancelled once'),
        machine('a signed session moves like an unsigned one, but cannot be cancelled'),
        refusal('a session with a signed order cannot be cancelled'),
      ]),
      rule(
        'Archiving a product disables every link that references it',
        links(
          'archiving a product disables its links and keeps their version; unarchiving leaves them disabled',
        ),
      ),
      rule(
        'Unarchiving does not enable links again',
        links(
          'archiving a product disables its links and keeps their version; unarchiving leaves them disabled',
        ),
      ),
      rule(
        'Links move between active and disabled by their endpoints',
        links('disabling and enabling again succeeds and emits nothing'),
      ),
      rule(
        'A disabled link shows customDisabledText',
        agent('a disabled link still has a view and takes no sessions; a deleted one has none'),
      ),
      rule('Webhooks move between active and inactive by their endpoints, and inactive ones get nothing', [
        webhook(
          'disabling parks what is still to be sent; enabling frees it, and replays what was skipped when asked',
        ),
        outbox('events raised while a webhook is inactive are logged as skipped'),
      ]),
      rule(
        'Repeated failures pause a webhook',
        deliveryFailure(
          'on the published schedule ten attempts take 75.6 hours, after which the webhook is paused',
        ),
      ),
      rule(
        'A paused webhook is restored by POST /webhook/enable',
        deliveryFailure(
          '410 pauses a webhook at once: its other webhooks hear of it, its deliveries wait, enabling sends them',
        ),
      ),
      rule('AI stages link_ready, session_ready and payment_prepared, each with its next action', [
        stages('every stage has the next action that the protocol documents'),
        agent('a link becomes a session, and a session a transaction that pays it'),
      ]),
    ],
  },
];
