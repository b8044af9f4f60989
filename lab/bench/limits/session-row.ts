import { randomFillSync, randomInt } from 'node:crypto';

/** The part of a checkout session request that the limits read. The load generator sends 617 bytes. */
export interface SessionBody {
  readonly accountId: string;
  readonly settlementToken: string;
  readonly lineItems: readonly {
    readonly itemType: string;
    readonly productId: string;
    readonly quantity: number;
    readonly unitPrice: number;
  }[];
  readonly successUrl: string;
  readonly payerEmailRequired: number;
  readonly feeModel: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The product on sale, for limits and product alike. */
export const benchProduct = {
  name: 'Single-origin coffee, 1 kg',
  description: 'Whole beans, roasted on the day of the order, in a bag that can be composted.',
  commonPrices: [25_000_000],
  attributes: [
    { name: 'Roast', value: 'medium' },
    { name: 'Origin', value: 'Huehuetenango, Guatemala' },
  ],
} as const;

/** JSON Schema of a request, for fastify's own ajv. */
export const sessionBodySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['accountId', 'settlementToken', 'lineItems'],
  properties: {
    accountId: { type: 'string', minLength: 1, maxLength: 64 },
    settlementToken: { type: 'string', pattern: '^[a-z0-9-]+::[a-z0-9-]+$', maxLength: 64 },
    lineItems: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['itemType', 'productId', 'quantity', 'unitPrice'],
        properties: {
          itemType: { type: 'string', enum: ['product'] },
          productId: { type: 'string', minLength: 1, maxLength: 64 },
          quantity: { type: 'integer', minimum: 1, maximum: 10_000 },
          unitPrice: { type: 'integer', minimum: 1, maximum: 10_000_000_000_000 },
        },
      },
    },
    successUrl: { type: 'string', pattern: '^https://', maxLength: 1000 },
    payerEmailRequired: { type: 'integer', enum: [0, 1] },
    feeModel: { type: 'integer', enum: [1, 2] },
    metadata: { type: 'object' },
  },
} as const;

/** The columns of an insert in order, with their types. The rest of the 31 columns keep their defaults. */
export const insertedColumns = [
  ['session_id', 'text'],
  ['merchant_id', 'text'],
  ['session_type', 'text'],
  ['business_id', 'text'],
  ['business_type', 'text'],
  ['client_code', 'text'],
  ['account_id', 'text'],
  ['account_version', 'text'],
  ['recipient', 'text'],
  ['settlement_token', 'text'],
  ['fee_model', 'int4'],
  ['amount', 'int8'],
  ['line_items', 'jsonb'],
  ['payer_email_required', 'bool'],
  ['success_url', 'text'],
  ['metadata', 'text'],
  ['meta_data', 'text'],
  ['salt', 'text'],
  ['channel_id', 'text'],
  ['expiration_time', 'timestamptz'],
  ['created_at', 'timestamptz'],
] as const;

/** All 31 columns, in the order of the table. */
export const sessionColumns = [
  ...insertedColumns.map(([name]) => name),
  'signed_once',
  'status',
  'payer',
  'payer_email',
  'paid_token',
  'receipt_id',
  'initiate_tx',
  'complete_tx',
  'payment_succeeded_at',
  'settlement_succeeded_at',
] as const;

/** The two tables of the limits: primary keys, but no other indexes, no foreign keys and no checks. */
export const limitSchema = `
create table sessions (
  session_id text primary key,
  merchant_id text not null,
  session_type text not null,
  business_id text not null,
  business_type text not null,
  client_code text not null,
  account_id text not null,
  account_version text not null,
  recipient text not null,
  settlement_token text not null,
  fee_model int not null,
  amount bigint not null,
  line_items jsonb not null,
  payer_email_required boolean not null,
  success_url text not null,
  metadata text not null,
  meta_data text not null,
  salt text not null,
  channel_id text not null,
  expiration_time timestamptz not null,
  created_at timestamptz not null,
  signed_once boolean not null default false,
  status text not null default 'initialized',
  payer text not null default '',
  payer_email text not null default '',
  paid_token text not null default '',
  receipt_id text not null default '',
  initiate_tx text not null default '',
  complete_tx text not null default '',
  payment_succeeded_at timestamptz,
  settlement_succeeded_at timestamptz
);
create table idempotency (
  merchant_id text not null,
  idempotency_key text not null,
  body_hash bytea not null,
  session_id text not null,
  created_at timestamptz not null,
  primary key (merchant_id, idempotency_key)
);`;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const merchantId = 'mer_0000000000000000000001';
const recipient = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const randomPool = Buffer.alloc(8192);
let randomOffset = randomPool.length;

/** Takes random bytes from a pool. A system call for every few bytes costs more than the bytes. */
function takeRandom(size: number): Buffer {
  if (randomOffset + size > randomPool.length) {
    randomFillSync(randomPool);
    randomOffset = 0;
  }
  randomOffset += size;
  return randomPool.subarray(randomOffset - size, randomOffset);
}

function newId(prefix: string): string {
  let text = prefix;
  for (const byte of takeRandom(22)) text += alphabet[byte % 62];
  return text;
}

const newHash = () => `0x${takeRandom(32).toString('hex')}`;

/** Lifetime of a session in seconds. */
const lifeSeconds = 1800;

/** A session's row, with one value for each inserted column. */
export function newSessionRow(body: SessionBody) {
  const now = new Date();
  const items = body.lineItems.map((item) => ({
    lineItemId: newId('li_'),
    ...item,
    productData: {
      productName: benchProduct.name,
      productDescription: benchProduct.description,
      imageUrl: '',
      attributes: benchProduct.attributes,
    },
  }));
  return {
    session_id: newId('sess_'),
    merchant_id: merchantId,
    session_type: 'chk',
    business_id: '',
    business_type: '',
    client_code: takeRandom(16).toString('hex'),
    account_id: body.accountId,
    account_version: 'acv_0000000000000000000001',
    recipient,
    settlement_token: body.settlementToken,
    fee_model: body.feeModel,
    amount: items.reduce((sum, item) => sum + item.quantity * item.unitPrice, 0),
    line_items: items,
    payer_email_required: body.payerEmailRequired === 1,
    success_url: body.successUrl,
    metadata: body.metadata,
    meta_data: newHash(),
    salt: newHash(),
    channel_id: newHash(),
    expiration_time: new Date(now.getTime() + lifeSeconds * 1000),
    created_at: now,
  };
}
export type NewSessionRow = ReturnType<typeof newSessionRow>;

/** The row's values in the order of {@link insertedColumns}, as parameters of a statement. */
export function valuesOf(row: NewSessionRow): (string | number | boolean | Date)[] {
  return insertedColumns.map(([name]) => {
    const value = row[name];
    return typeof value === 'object' && !(value instanceof Date) ? JSON.stringify(value) : value;
  });
}

const pad = (value: number) => String(value).padStart(2, '0');

function formatTimestamp(time: Date): string {
  const date = `${time.getUTCFullYear()}-${pad(time.getUTCMonth() + 1)}-${pad(time.getUTCDate())}`;
  return `${date} ${pad(time.getUTCHours())}:${pad(time.getUTCMinutes())}:${pad(time.getUTCSeconds())}`;
}

/** The columns that the insert leaves to their defaults. */
export interface StoredState {
  readonly signed_once: boolean;
  readonly status: string;
  readonly payer: string;
  readonly payer_email: string;
  readonly paid_token: string;
  readonly receipt_id: string;
  readonly initiate_tx: string;
  readonly complete_tx: string;
  readonly payment_succeeded_at: Date | null;
  readonly settlement_succeeded_at: Date | null;
}

/** The state of a new session. */
export const initialState: StoredState = {
  signed_once: false,
  status: 'initialized',
  payer: '',
  payer_email: '',
  paid_token: '',
  receipt_id: '',
  initiate_tx: '',
  complete_tx: '',
  payment_succeeded_at: null,
  settlement_succeeded_at: null,
};

/** The Session object of an answer. */
export function sessionOf(row: NewSessionRow, state: StoredState) {
  return {
    sessionId: row.session_id,
    sessionType: row.session_type,
    businessId: row.business_id,
    businessType: row.business_type,
    clientCode: row.client_code,
    payer: state.payer,
    payerEmail: state.payer_email,
    payerEmailRequired: row.payer_email_required ? 1 : 0,
    paidToken: state.paid_token,
    receiptId: state.receipt_id,
    recipient: row.recipient,
    settlementToken: row.settlement_token,
    feeModel: row.fee_model,
    amount: row.amount,
    lineItems: { items: row.line_items },
    expirationTime: Math.floor(row.expiration_time.getTime() / 1000),
    successUrl: row.success_url,
    paymentUrl: `http://127.0.0.1:4000/checkout/${row.session_id}#${row.client_code}`,
    signedOnce: state.signed_once ? 1 : 0,
    initiateTx: state.initiate_tx,
    completeTx: state.complete_tx,
    paymentSucceededTime: formatOrNull(state.payment_succeeded_at),
    settlementSucceededTime: formatOrNull(state.settlement_succeeded_at),
    createAt: formatTimestamp(row.created_at),
    status: state.status,
    pendingReason: '',
    intendedPayer: '',
    metadata: row.metadata,
  };
}

function formatOrNull(time: Date | null): string | null {
  return time === null ? null : formatTimestamp(time);
}

/** A key for requests without one. The limit writes the row in any case. */
export function newIdempotencyKey(): string {
  return `limit-${Date.now()}-${randomInt(2 ** 47)}`;
}
