import { maxAccounts } from '@florin/protocol/account.ts';
import { authorizationLifeSeconds } from '@florin/protocol/agent.ts';
import { eventLifeDays } from '@florin/protocol/event-api.ts';
import { maxLineItemsBytes } from '@florin/protocol/line-item.ts';
import { maxTokenDecimals, minTokenDecimals } from '@florin/protocol/money.ts';
import { permissionPresets, permissions } from '@florin/protocol/permission.ts';
import { metadataLimits, sessionLifeSeconds } from '@florin/protocol/session.ts';
import { maxWebhooks } from '@florin/protocol/webhook.ts';
import {
  bodyLimitBytes,
  defaultOrderLimits,
  defaultRateLimits,
  defaultWaitingLimits,
  freeOperations,
  imageLimits,
  keyInTextPattern,
  mostInAnHour,
  type Rate,
  streamLimits,
  unsignedOrderSeconds,
} from '@florin/server/documents';
import { interfaces } from './interfaces.ts';
import { code, type DocsPage, heading, linkTo, list, table } from './page.ts';
import { grouped, limitText, type SchemaPart, schemaPart } from './schema-rows.ts';

/** Keys, permissions and the payer's signature. */
export function authenticationPage(): DocsPage {
  return {
    path: '/docs/authentication',
    title: 'Authentication',
    summary: 'API keys for the merchant API, signatures of the payer’s wallet for the AI protocol.',
    blocks: [
      heading('API keys'),
      code('http', 'Authorization: Bearer sk_live_…'),
      list(
        'Exactly one space after `Bearer`. A missing, malformed, unknown, expired or revoked key is HTTP 401.',
        '`sk_live_` is a secret key: every permission. Keep it on servers.',
        '`rk_live_` is a restricted key: the permissions that it was made with. A missing one is HTTP 403, code 200103.',
        'Keys are shown once. Only their hash is stored.',
        'The address decides the interface: a merchant path without a valid key is always 401.',
        'A key can have an expiry, and can be bound to IP addresses, networks and web origins. From any other address it is as invalid as an unknown key. It can also have limits for one session and for all sessions of a UTC day (code 100209). They bind the sessions that the key makes by itself, and neither the price of the payment links that it makes nor what payers pay by them: a key with limits that should bind everything has no `payment_links:write`, which the preset `agent` has.',
        'A revoked key is refused from the next request on, by every replica. Open sessions stay payable.',
      ),
      heading('Keys in browsers'),
      list(
        'What other services call a publishable key is a restricted key that is bound to origins.',
        'A key that is bound to origins answers pages of these origins with the CORS headers that let them read it, and refuses every other request with HTTP 403, code 200103: those of other origins, and those without an `Origin`.',
        'The preset `storefront` needs a list of origins. Give such a key limits too: every visitor of the page can read it, and programs other than browsers can send any origin.',
        'A key without origins sends no CORS headers. No answer that needs a key has `Access-Control-Allow-Origin: *`, and none allows credentials.',
        'A secret key with an `Origin` is refused with HTTP 403, code 200103. Replace such a key: the page that sent it is public.',
      ),
      heading('Secret scanning'),
      `A key matches the regular expression \`${keyInTextPattern}\`. Its last six characters are a checksum that distinguishes a key ` +
        'from noise: the CRC-32 (as in zip and PNG) of all characters before them, in base 62 with the digits 0-9, A-Z, a-z, ' +
        'the most significant first, filled up with zeros.',
      heading('Permissions'),
      table(
        ['Permission', ...Object.keys(permissionPresets)],
        permissions.map((permission) => [
          `\`${permission}\``,
          ...Object.values(permissionPresets).map((preset: readonly string[]) =>
            preset.includes(permission) ? 'yes' : '',
          ),
        ]),
      ),
      heading('AI protocol'),
      'Requests that change anything carry `message` and `signature`: EIP-712 typed data, signed by the payer’s wallet. ' +
        'The previous answer says what to sign: `authorizationSpec` has the types, `messageTemplate` a message that is ' +
        'complete but for what the payer chooses. The domain is `aipay.` and the service’s domain, version `1`, and ' +
        'the chain of the payment.',
      list(
        `An authorization is valid until \`authorizationExpiresAt\`, at most ${grouped(authorizationLifeSeconds.maximum)} seconds ahead.`,
        'The same message and signature again get the same answer, marked `replayed`: a retry after a time-out is always safe. The same nonce with anything else is refused.',
        'When the payer chooses the total, each token of the view has its own `minAmountInUSD` and `maxAmountInUSD`. Amounts outside are refused with 100209.',
        'A plain account signs in one form: 65 bytes, low s, v 27 or 28. Smart accounts authorize by their own code (EIP-1271, EIP-7702), and by a wrapped signature before they are deployed (ERC-6492).',
      ),
    ],
  };
}

/** The rules of every operation. */
export function conventionsPage(): DocsPage {
  return {
    path: '/docs/conventions',
    title: 'Conventions',
    summary: 'Rules of every operation: addresses, envelope, money, pages, retries, versions.',
    blocks: [
      table(
        ['Interface', 'Base path', 'Key'],
        [
          [linkTo('Merchant API', '/docs/api/products'), '`/payment/v1`', 'yes'],
          [linkTo('AI protocol', '/docs/api/ai-protocol'), '`/aipay/api/v1`', 'no'],
        ],
      ),
      heading('Envelope'),
      'Every answer is `{code, message, data}`, and `code` = 0 is success. Business errors are HTTP 200 too. Answers of ' +
        'the AI protocol have the members of `data` beside it as well. Every answer carries `Request-Id`.',
      'So a tool that knows statuses alone takes a refusal for a success: `curl -f` and health checks of proxies do, and metrics and ' +
        "alerts about 4xx count none of them. In a shell test the code, such as by `jq -e '.code == 0'`, or use the command line, " +
        'which ends with 1. In a program count `code` or `error.slug` yourself; the SDK throws an error that has both.',
      heading('Money'),
      list(
        'Amounts of the merchant API are integers in Micro-USD: 1,000,000 is one US dollar.',
        'Amounts in tokens are decimal strings of smallest units. Stablecoins count at par.',
        'The fee is `ceil(paymentValue × feeRatePPM / 1,000,000)`. With fee model 1 the merchant pays it: `netValue` = `paymentValue` - `feeValue`. With fee model 2 the payer does: `totalValue` = `paymentValue` + `feeValue`. Always `feeValue` = `totalValue` - `netValue`.',
      ),
      heading('Idempotency and retries'),
      'Every POST of the merchant API takes the header `Idempotency-Key`, of at most 255 characters. The same key with the ' +
        'same body gets the answer of the first request, with `Idempotent-Replayed: true`, for 30 days. A key counts for one ' +
        'merchant and one path: on another path it is another key. All API keys of the merchant share it, but a restricted ' +
        'key gets only answers to its own requests (else 400401), because it may see less. Bodies are the same when they differ only in ' +
        'spelling: white space, the order of keys, escapes, `1.0` for `1`. Another body is 422 with code 400401; a ' +
        'request still under way is 409 with code 400402. Only successes are kept: a failure has changed nothing and may ' +
        'be retried.',
      heading('Lists'),
      'Pages count from 1 and hold at most 100 entries, newest first. `hasMore` says whether another page follows. `page` and ' +
        '`size` come back as strings in product and link lists, and as numbers everywhere else.',
      'To read a whole list, pass `nextCursor` of each answer as `?after=` of the next request, with page 1, until it is ' +
        'empty. You get each entry once, also while new ones arrive, and the last page takes no longer than the first. Page ' +
        'numbers beyond 100 may be slow.',
      'The event list has no `nextCursor`. There `after` is the id of an event: the list then holds later events, oldest ' +
        'first. Pass the `id` of the last event that you have, again with page 1, while `hasMore`.',
      heading('Fields'),
      list(
        'Unknown fields are refused, nested ones too, and so are unknown query parameters (400101). Pages for people and the x402 resources take any query parameter. An update accepts and ignores the other fields that a read returns, so you can read, change and write back.',
        'An update of a product, a link or a webhook replaces everything: optional fields that are left out are reset. Give `ifUpdateAt`, the `updateAt` that you read, so that no other change is undone. An update of the branding keeps what is left out. `update` of the SDK and of the command line changes only what you name, everywhere.',
        'Absent texts are `""`, absent metadata is `{}`. A time that has not come is `""` in `finalizeTime`, `cancelledAt`, `decideBy` and the `updateAt` of a branding. `paymentSucceededTime` and `settlementSucceededTime` of a session, `nextAttemptAt` of a delivery and `httpStatus` of an attempt are `null` instead.',
        'Timestamps are `YYYY-MM-DD HH:MM:SS` in UTC, without a zone: `new Date(createAt)` would read the time of your own zone, so use `toDate(createAt)` of the SDK. In requests, and in `expirationTime`, `activeUntil`, `payUntil` and the `expiresAt` of a report, times are Unix seconds. The `timestamp` of an event is RFC 3339.',
      ),
      heading('Paths'),
      list(
        'Without a valid key every merchant path is HTTP 401, with any ids in it.',
        'An id that cannot exist, such as one that is too long or of another form, gets the same answer as one that does not exist: the code of its resource, such as 100201 for a session, at HTTP 200.',
        'An unknown path is HTTP 404 with code 404000. Browsers (`Accept: text/html`) get a page for unknown paths and for errors of pages; all paths of interfaces for programs answer the envelope.',
      ),
      heading('Versions'),
      'Version 1 only grows: new fields, operations, event types and codes may come, so ignore unknown ones. A ' +
        'breaking change would become `/payment/v2`, with both versions available for twelve months.',
    ],
  };
}

/** Every limit, from the schemas and constants that enforce it. */
export function limitsPage(): DocsPage {
  const limits = defaultRateLimits;
  const waiting = defaultWaitingLimits;
  return {
    path: '/docs/limits',
    title: 'Limits',
    summary: 'Every limit of requests, fields and rates.',
    blocks: [
      subjectLimits(),
      heading('Rates'),
      'Beyond these, answers are HTTP 429 with code 900101 and `Retry-After`. The numbers are the defaults of one process; ' +
        'the operator can change them.',
      table(
        ['Requests', 'Counted by', 'Rate', 'At once'],
        [
          ['Reads', 'API key', ...rateCells(limits.keyReads)],
          ['Writes', 'API key', ...rateCells(limits.keyWrites)],
          ['Lists', 'API key', ...rateCells(limits.keyLists)],
          ['Without a valid key', 'client address', ...rateCells(limits.failedAuthentications)],
          ['Public reads', 'client address', ...rateCells(limits.publicReads)],
          ['Signed requests', 'client address', ...rateCells(limits.signedRequests)],
          ['Sessions that payers sign for', 'payment link', ...rateCells(limits.linkCreations)],
          ['Signatures of smart accounts', 'client address', ...rateCells(limits.walletCalls)],
        ],
      ),
      `Requests that carry an x402 payment are signed requests. One process handles ${waiting.perNetwork} of them at one ` +
        `time for a client address, and ${waiting.perPayment} with one payment, beyond which it answers HTTP 429. They may ` +
        `be for ${waiting.inAll} payments in all, however many requests ask for each, beyond which it answers ` +
        'HTTP 503. Both come with `Retry-After`, and nothing was done for the request.',
      ...freeCreationBlocks(),
      heading('Fields'),
      '“Characters” are Unicode code points.',
      table(['Operation', 'Field', 'Limit'], fieldLimits()),
    ],
  };
}

function subjectLimits(): string {
  return table(
    ['Subject', 'Limit'],
    [
      [
        "Gas that the service pays for a merchant's payers, on each chain in 24 hours",
        '500,000,000 units, and 50,000,000 for returns, unless the operator sets them; then 100612',
      ],
      [
        'The same for payers with code at their address (smart accounts)',
        'a fifth of it; 600,000 units for one payment; none for 24 hours after a payment of the account has failed, or after 20 of the merchant’s have failed or may still fail; unless the operator sets them; then 100612',
      ],
      ['Collection accounts per merchant', String(maxAccounts)],
      ['Webhooks per merchant', String(maxWebhooks)],
      ['Request body', `${bodyLimitBytes / 1024} KiB, 16 levels deep`],
      [
        'lineItems of a link or session',
        `${maxLineItemsBytes / 1024} KiB as JSON in UTF-8, with the data of their products`,
      ],
      ['metadata', `${metadataLimits.bytes / 1024} KiB, ${metadataLimits.depth} levels deep`],
      [
        'Life of a session',
        `${grouped(sessionLifeSeconds.minimum)} seconds (the default; ${sessionLifeSeconds.grace} seconds less are taken) to ${sessionLifeSeconds.maximum / 86_400} days`,
      ],
      ['Life of an authorization', `${grouped(authorizationLifeSeconds.maximum)} seconds`],
      ['Decimals of a token', `${minTokenDecimals} to ${maxTokenDecimals}`],
      ['Events can be read for', `${eventLifeDays} days`],
      [
        'Payable orders of a session',
        `${defaultOrderLimits.ofNetwork} per client address, ${defaultOrderLimits.inAll} in all; 900101 beyond. Requests with the session’s secret count apart from all others: a stranger with the plain link can use up the share of those without it, so a payer without the secret may have to wait up to an hour or need a new session, and never that of the payer with it`,
      ],
      ['Life of an order that no payer has signed for', `${grouped(unsignedOrderSeconds)} seconds`],
      [
        'Hosted pages updated by server-sent events',
        `${streamLimits.ofNetwork} per client address, ${grouped(streamLimits.inAll)} per process; others ask again`,
      ],
      [
        'Images that one process gets at once',
        `${imageLimits.perMerchant} for one merchant, ${imageLimits.atOnce} in all; others stay \`pending\` and are retried`,
      ],
    ],
  );
}

/** What callers without a key can write. */
function freeCreationBlocks(): string[] {
  const most = mostInAnHour(defaultRateLimits.signedRequests);
  return [
    heading('What can be written without a key'),
    'The most rows that one client network can cause within an hour after a pause, with the default limits. They do not slow the search for deposits, whose cost depends on the transfers in a block.',
    table(
      ['Operation', 'Requests', 'Sessions', 'Orders', 'Besides bounded by'],
      freeOperations.map(({ operation, sessions, orders, besides }) => [
        `\`${operation}\``,
        grouped(most),
        grouped(most * sessions),
        grouped(most * orders),
        besides === '' ? '-' : besides,
      ]),
    ),
  ];
}

function rateCells({ count, seconds, burst }: Rate): string[] {
  return [seconds === 1 ? `${count} a second` : `${count} in ${seconds} seconds`, String(burst)];
}

function fieldLimits(): string[][] {
  return interfaces.flatMap(({ basePath, routes }) =>
    Object.values(routes).flatMap(({ method, path, body }) =>
      limitsOf(schemaPart(body ?? {}), '').map(([field = '', limit = '']) => [
        `\`${method} ${basePath}${path}\``,
        `\`${field}\``,
        limit,
      ]),
    ),
  );
}

function limitsOf(part: SchemaPart, prefix: string): string[][] {
  return Object.entries(part.properties ?? {}).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const limit = limitText(member);
    return [
      ...(limit === '' ? [] : [[path, limit]]),
      ...limitsOf(member, `${path}.`),
      ...limitsOf(member.items ?? {}, `${path}[].`),
    ];
  });
}
