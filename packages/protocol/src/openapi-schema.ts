import Type, { type TSchema } from 'typebox';
import { account } from './account.ts';
import { accountChange } from './account-change.ts';
import { workflow } from './agent.ts';
import {
  agentLineItem,
  agentSessionView,
  authorizationRequirement,
  completePaymentSessionGuide,
  createdSessionView,
  linkView,
  paymentAlternative,
  preparedView,
  prerequisite,
  sessionAiView,
  supportedPaymentToken,
  txRequest,
} from './agent-view.ts';
import { branding } from './branding.ts';
import { capabilities } from './capability.ts';
import { delivery, deliveryDetail } from './delivery-api.ts';
import { eventPatterns, eventTypes } from './event.ts';
import { event } from './event-api.ts';
import { paymentException, raisedException } from './exception.ts';
import { lineItem, productData } from './line-item.ts';
import { link, linkCreateBody, linkCreated, linkDetail, settlementTokenInfo } from './link.ts';
import { product, productCreateBody } from './product.ts';
import { refund, refundCreateBody } from './refund.ts';
import { report } from './report-api.ts';
import { session, sessionCreateBody, sessionDeposit, sessionView } from './session.ts';
import { transaction } from './transaction.ts';
import { subscriptionText, webhook, webhookCreateBody } from './webhook.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** `error` of every failed answer. */
const errorInfo = Type.Object({
  slug: Type.String({ description: 'Name of the error; stable, unlike the message' }),
  param: Type.String({ description: 'Path of the field that the error is about, else empty' }),
  retryable: Type.Boolean({ description: 'Whether the same request may succeed later' }),
  remedy: Type.String({ description: 'What to do about it, for people and models' }),
  docUrl: Type.String({ description: 'The page about this code' }),
  requestId: Type.String({ description: 'The Request-Id of this answer' }),
});

const failed = Type.Object({
  code: Type.Integer({ description: 'Never 0' }),
  message: Type.String({ description: '`Text: detail`, for people' }),
  data: Type.Unknown({ description: 'null, or help that a program can use' }),
  error: errorInfo,
});

/** Schemas that documents reference by name instead of repeating them. */
export const namedSchemas: Readonly<Record<string, TSchema>> = {
  Account: account,
  AccountChange: accountChange,
  AgentLineItem: agentLineItem,
  AgentLinkView: linkView,
  AgentPreparedView: preparedView,
  AgentSessionCreated: createdSessionView,
  AgentSessionGuidance: sessionAiView,
  AgentSessionView: agentSessionView,
  AgentWorkflow: workflow,
  AuthorizationRequirement: authorizationRequirement,
  Branding: branding,
  Capabilities: capabilities,
  CompletePaymentSessionGuide: completePaymentSessionGuide,
  Delivery: delivery,
  DeliveryDetail: deliveryDetail,
  Event: event,
  Failure: failed,
  LineItem: lineItem,
  PaymentAlternative: paymentAlternative,
  PaymentException: paymentException,
  PaymentLink: link,
  PaymentLinkCreated: linkCreated,
  PaymentLinkCreateRequest: linkCreateBody,
  PaymentLinkDetail: linkDetail,
  Prerequisite: prerequisite,
  Product: product,
  ProductCreateRequest: productCreateBody,
  ProductData: productData,
  RaisedException: raisedException,
  Refund: refund,
  RefundCreateRequest: refundCreateBody,
  Report: report,
  Session: session,
  SessionCreateRequest: sessionCreateBody,
  SessionDeposit: sessionDeposit,
  SessionView: sessionView,
  SettlementTokenInfo: settlementTokenInfo,
  SupportedPaymentToken: supportedPaymentToken,
  Transaction: transaction,
  TransactionRequest: txRequest,
  Webhook: webhook,
  WebhookCreateRequest: webhookCreateBody,
};

const names = new Map<unknown, string>(Object.entries(namedSchemas).map(([name, schema]) => [schema, name]));
const namesByText = new Map(
  Object.entries(namedSchemas).map(([name, schema]) => [JSON.stringify(schema), name]),
);

/** The name that documents give a schema. Optional members are copies of a schema, recognized by their content. */
export function nameOfSchema(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  return names.get(schema) ?? ('properties' in schema ? namesByText.get(JSON.stringify(schema)) : undefined);
}

/**
 * Removes the parts of a schema that only this code knows, and references named schemas; `self` keeps a name's own
 * body.
 */
export function plainSchema(schema: unknown, self?: string): JsonObject {
  const name = nameOfSchema(schema);
  if (name !== undefined && name !== self) return { $ref: `#/components/schemas/${name}` };
  const plain = plainValue(schema);
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain))
    throw new Error('a schema is an object');
  return plain as JsonObject;
}

function plainValue(value: unknown): Json {
  if (Array.isArray(value)) return value.map((entry) => plainMember(entry));
  if (typeof value === 'object' && value !== null) {
    // The service has an error of its own for another text, so its schema takes any.
    if (value === subscriptionText) return { type: 'string', enum: [...eventTypes, ...eventPatterns] };
    const constants = constantsOf(value);
    if (constants !== undefined) return constants;
    const members: Record<string, Json> = {};
    for (const [key, member] of Object.entries(value)) {
      if (key === 'trimmed' || (key === 'format' && (member === 'text' || member === 'name'))) continue;
      if (key === 'format' && (member === 'https-url' || member === 'image-url')) {
        // `{SESSION_ID}` is no part of a URI.
        members['format'] = member === 'https-url' ? 'uri-template' : 'uri';
        members['pattern'] = '^https://';
      } else if (key === 'patternProperties') members['additionalProperties'] = valuesOf(member);
      else members[key] = plainMember(member);
    }
    return members;
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null)
    return value;
  throw new TypeError(`not a JSON value in a schema: ${typeof value}`);
}

/** Members of any name. Few generators read patterns of names. */
function valuesOf(patterns: unknown): Json {
  const [values, ...others] = Object.values(patterns as object) as unknown[];
  if (others.length > 0) throw new TypeError('one pattern of names in a schema');
  return plainMember(values);
}

function plainMember(value: unknown): Json {
  return nameOfSchema(value) === undefined ? plainValue(value) : plainSchema(value);
}

/** A union of constants of one type is an enum, which every reader of OpenAPI understands. */
function constantsOf(schema: object): JsonObject | undefined {
  if (!('anyOf' in schema) || !Array.isArray(schema.anyOf)) return undefined;
  const branches: { const?: Json; type?: string }[] = schema.anyOf;
  const type = branches[0]?.type;
  if (type === undefined || !branches.every((branch) => branch.const !== undefined && branch.type === type)) {
    return undefined;
  }
  const { anyOf: _, ...rest } = schema as { anyOf: unknown; description?: string };
  return { ...(rest as JsonObject), type, enum: branches.map((branch) => branch.const ?? null) };
}
