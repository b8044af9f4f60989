import {
  apiKey,
  apiKeyLimits,
  type ConformanceSection,
  cors,
  decoder,
  deliveries,
  delivery,
  deliveryFailure,
  deliveryKill,
  door,
  egress,
  egressCorpus,
  errors,
  eventBody,
  events,
  fairness,
  fixture,
  gaslessLife,
  imageLife,
  imageRetry,
  intake,
  limitOf,
  linkTerms,
  misbehaviour,
  outbox,
  payment,
  protection,
  pythonReceiver,
  replicas,
  reseal,
  resend,
  retry,
  rule,
  server,
  signedWebhook,
  urlPolicy,
  webhook,
} from './proof.ts';

/** The wire contract: keys, webhooks and errors. */
export const serviceSections: readonly ConformanceSection[] = [
  {
    title: 'Wire contract 5: API keys',
    rules: [
      rule('The presets fulfilment and agent hold what they are named for', [
        door('a key of the preset fulfilment reaches what it is named for, and nothing else'),
        door('a key of the preset agent reaches what it is named for, and nothing else'),
      ]),
      rule(
        'A storefront key needs a list of origins',
        apiKey('a storefront key needs origins, and a secret key takes none'),
      ),
      rule('A page of an origin that its key lists may read answers; any other is 403 with 200103', [
        cors('a page of a listed origin may ask, and reads answers, refusals included'),
        cors('a page of any other origin is told nothing, and its request is refused with the reason'),
        cors('an origin counts no longer once its last key is revoked or has expired'),
      ]),
      rule('No answer to a key has a star for origins; a secret key is refused in browsers', [
        cors('a key without origins answers pages without a word that lets them read it'),
        cors('a secret key is refused in browsers'),
      ]),
      rule('The checksum of a key serves secret scanners', [
        apiKey('a key has its prefix, 43 characters of chance and a CRC-32 of all before it'),
        apiKey('secret scanners find a key in any text by its documented pattern'),
      ]),
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
        [
          'cli/src/key-command.test.ts',
          'a key that was created works until it is revoked, and no list shows it',
        ],
        replicas('a key that is revoked is refused by the next request to any process'),
      ]),
      rule('A key may be bound to addresses and to origins', [
        protection(
          'a key may be used from its addresses alone; elsewhere it is as invalid as an unknown one',
        ),
        apiKeyLimits('a key with origins takes exactly these, one without takes any, a secret key none'),
      ]),
      rule('A key may have a largest amount per session and per day', [
        protection('one session may come to the limit of its key and no further'),
        protection('100 sessions at once on two replicas never come to more than the day allows'),
        replicas(
          '100 sessions at once from two processes never come to more than the key may create in a day',
        ),
      ]),
    ],
  },
  {
    title: 'Wire contract 6: Webhooks',
    rules: [
      rule('1 to 50 subscribed events', limitOf('/webhook/create', 'subscribedEvents')),
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
      rule('An event, or the deliveries of a time, can be sent again', [
        resend('the deliveries of a time are sent again, from its beginning to before its end'),
        resend('an event goes again to all its webhooks, or to one, and never to those of another merchant'),
      ]),
      rule(
        'A delivery shows its requests without signatures, its answers and what changed',
        deliveries(
          'a delivery is read with its body, its requests without signatures, and what changed between attempts',
        ),
      ),
      rule(
        'Every event type has an example that can be sent',
        fixture('every event type has a fixture that fits the schema of its data, member by member'),
      ),
      rule('A dead or slow receiver delays no other, and a merchant has its share', [
        fairness('a dead and a slow receiver with long lines delay a healthy one by nothing'),
        fairness('webhooks of one merchant never have more attempts in flight than its share'),
        fairness(
          'a replay to a receiver that comes back begins with few at once and speeds up as it answers',
        ),
      ]),
      rule(
        'Whatever a receiver does, its attempts are logged and tried again',
        misbehaviour('whatever a receiver does, the attempt is logged, tried again, and holds up nobody'),
      ),
      rule(
        'A delivering process that is killed loses no event and repeats only what was not written down',
        deliveryKill(
          'SIGKILL of delivering processes loses no event, keeps the order, and repeats only what was not written down',
        ),
      ),
      rule(
        'Notifications verify with nothing but a standard library',
        pythonReceiver(
          "Python's standard library verifies what the engine delivers, and refuses it under another key",
        ),
      ),
      rule(
        'No private target is connected to in any spelling, by any name or redirect',
        egressCorpus(
          'no spelling of any private target is ever connected to, at any port, with or without credentials',
        ),
      ),
      rule(
        'A new master key takes over every signing key',
        reseal(
          'after resealing the new master key alone opens every signing key, and none of them has changed',
        ),
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
      rule('Images: one request without redirects, bounded, re-encoded', [
        intake('with the reason said'),
        intake('one that is silent, or drips, is left when the time is over'),
        intake('no image is had from a machine that is not on the public internet'),
        decoder('25 megapixels are taken, one row more is refused'),
        decoder('what hides behind, or inside, a true image is gone'),
      ]),
      rule('Images: a source that fails is retried in the background', [
        imageRetry('an image that turns up later is hosted, with an event that shows it'),
        imageRetry('after five tries in 24 hours it is given up, with an event'),
      ]),
      rule(
        'Images: sending the hosted URL back keeps the image',
        imageLife(
          'what a read returned, sent back, keeps the image, the version and asks nothing of the source',
        ),
      ),
    ],
  },
  {
    title: 'Wire contract 7: Error codes',
    rules: [
      rule(
        'Codes for gasless methods are answered',
        gaslessLife('what cannot be paid by a signature is refused before anything is sent'),
      ),
      rule('The code for statistics is kept and documented; no operation gives statistics', [
        errors('400301 is kept for statistics, and no operation gives any'),
        ['server/src/http/docs/drift.test.ts', 'every error of the catalogue has a page'],
      ]),
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
];
