import { type AgentPurpose, authorizationLifeSeconds } from '@florin/protocol/agent.ts';
import type { AuthorizationRequirement } from '@florin/protocol/agent-view.ts';
import {
  agentDomainName,
  domainVersion,
  paymentSessionCreationTypes,
  preparePaymentTypes,
} from '@florin/protocol/typed-data.ts';
import { bytesToHex } from 'viem';
import { unixSeconds } from '#outside/clock.ts';
import type { AuthorizationContext } from './context.ts';

const definitions = {
  create_payment_session: {
    primaryType: 'PaymentSessionCreationAuthorization',
    fields: paymentSessionCreationTypes.PaymentSessionCreationAuthorization,
  },
  prepare_payment: {
    primaryType: 'PreparePaymentAuthorization',
    fields: preparePaymentTypes.PreparePaymentAuthorization,
  },
} as const satisfies Record<AgentPurpose, unknown>;

// MetaMask and others need the domain's own type spelled out. Libraries that derive it ignore this.
const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
];

/**
 * The message to sign for a purpose: typed-data definitions as the specification lists them, and a template with a
 * fresh nonce that expires in 15 minutes. `known` holds the values that are already decided. The template omits those
 * that the payer still has to choose.
 */
export function requirementOf(
  deps: Pick<AuthorizationContext, 'serviceDomain' | 'clock' | 'random'>,
  purpose: AgentPurpose,
  options: { chainId: number; known: Readonly<Record<string, string>> },
): AuthorizationRequirement {
  const { primaryType, fields } = definitions[purpose];
  const values: Readonly<Record<string, string>> = {
    ...options.known,
    purpose,
    authorizationNonce: bytesToHex(deps.random.bytes(32)),
    authorizationExpiresAt: (unixSeconds(deps.clock.now()) + authorizationLifeSeconds.template).toString(),
  };
  const messageTemplate: Record<string, string> = {};
  for (const { name } of fields) {
    const value = values[name];
    if (value !== undefined) messageTemplate[name] = value;
  }
  const domain = {
    name: agentDomainName(deps.serviceDomain),
    version: domainVersion,
    chainId: options.chainId,
  };
  const types = { [primaryType]: [...fields] };
  const typedData = {
    types: { EIP712Domain: domainFields, ...types },
    primaryType,
    domain,
    message: messageTemplate,
  };
  return {
    authorizationRequired: true,
    authorizationSpec: { type: 'eip712', purpose, domain, types, chainIdFrom: 'paymentChainId', typedData },
    messageTemplate,
  };
}
