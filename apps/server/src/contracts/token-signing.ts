import { type Rpc, readContract } from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import { type PermitKind, permitKinds, type Token } from '@florin/protocol/token.ts';
import {
  encodeAbiParameters,
  hashDomain,
  keccak256,
  parseAbi,
  stringToHex,
  zeroAddress,
  zeroHash,
} from 'viem';
import { permit2Address } from '#chains/shared-contract.ts';

/** The EIP-712 domain of a token. */
export interface TokenDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: Hex;
}

/** The signature methods of a token, read from its chain. */
export interface TokenSigning {
  readonly permits: ReadonlySet<PermitKind>;
  /**
   * Absent when no domain of this form gives the token's own DOMAIN_SEPARATOR: it then supports neither 2612 nor
   * 3009.
   */
  readonly domain?: TokenDomain;
}

/** Reads the signature methods of a token. Throws `RpcUnavailable` or `RpcError` while its chain does not answer. */
export type TokenSigningReader = (token: Token) => Promise<TokenSigning>;

/** A reader that asks each token's chain once: contracts behind proxies change too rarely for a query per payment. */
export function tokenSigningReader(rpcOf: (chainId: number) => Rpc): TokenSigningReader {
  const known = new Map<string, Promise<TokenSigning>>();
  return (token) => {
    const found = known.get(token.tokenId);
    if (found !== undefined) return found;
    const asked = readTokenSigning(rpcOf(token.chainId), token);
    known.set(token.tokenId, asked);
    // A failure is not cached: the next call asks again.
    asked.catch(() => known.delete(token.tokenId));
    return asked;
  };
}

const signingAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function nonces(address owner) view returns (uint256)',
  'function PERMIT_TYPEHASH() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function RECEIVE_WITH_AUTHORIZATION_TYPEHASH() view returns (bytes32)',
]);

const hashOfText = (text: string) => keccak256(stringToHex(text));
const permitTypeHash = hashOfText(
  'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)',
);
const receiveTypeHash = hashOfText(
  'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
);

/**
 * Reads a token's signature methods from its chain. A method counts only when the contract answers as its standard
 * requires, and its DOMAIN_SEPARATOR is the hash of the domain that payers would sign. Otherwise the service would
 * ask for signatures that it could not use.
 */
export async function readTokenSigning(rpc: Rpc, token: Token): Promise<TokenSigning> {
  const ask = { abi: signingAbi } as const;
  const { address } = token;
  const [domain, hasPermit2, nonce, permitHash, state, receiveHash] = await Promise.all([
    readDomain(rpc, token),
    isPermit2Deployed(rpc, token.chainId),
    readContract(rpc, address, { ...ask, functionName: 'nonces', args: [zeroAddress] }),
    readContract(rpc, address, { ...ask, functionName: 'PERMIT_TYPEHASH' }),
    readContract(rpc, address, { ...ask, functionName: 'authorizationState', args: [zeroAddress, zeroHash] }),
    readContract(rpc, address, { ...ask, functionName: 'RECEIVE_WITH_AUTHORIZATION_TYPEHASH' }),
  ]);
  const has: Record<PermitKind, boolean> = {
    // Tokens without a type hash follow the standard's text. DAI's older permit has another type hash.
    eip2612: domain !== undefined && nonce !== undefined && (permitHash ?? permitTypeHash) === permitTypeHash,
    eip3009: domain !== undefined && state !== undefined && receiveHash === receiveTypeHash,
    permit2: hasPermit2,
  };
  const permits = new Set(permitKinds.filter((kind) => has[kind]));
  return domain === undefined ? { permits } : { permits, domain };
}

async function readDomain(rpc: Rpc, token: Token): Promise<TokenDomain | undefined> {
  const ask = { abi: signingAbi } as const;
  const { address, chainId } = token;
  const [separator, stated, name, version] = await Promise.all([
    readContract(rpc, address, { ...ask, functionName: 'DOMAIN_SEPARATOR' }),
    readContract(rpc, address, { ...ask, functionName: 'eip712Domain' }),
    readContract(rpc, address, { ...ask, functionName: 'name' }),
    readContract(rpc, address, { ...ask, functionName: 'version' }),
  ]);
  if (separator === undefined) return undefined;
  // ERC-5267 first, then USDC's convention, then OpenZeppelin's, whose version is always 1 and has no getter.
  const candidates: (readonly [string | undefined, string | undefined])[] = [
    [stated?.[1], stated?.[2]],
    [name, version],
    [name, '1'],
  ];
  for (const [domainName, domainVersion] of candidates) {
    if (domainName === undefined || domainVersion === undefined) continue;
    const domain = { name: domainName, version: domainVersion, chainId, verifyingContract: address };
    if (separatorOf(domain) === separator) return domain;
  }
  return undefined;
}

const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const;

function separatorOf(domain: TokenDomain): Hex {
  return hashDomain({
    domain: { ...domain, chainId: BigInt(domain.chainId) },
    types: { EIP712Domain: domainFields },
  });
}

const permit2DomainType = 'EIP712Domain(string name,uint256 chainId,address verifyingContract)';

/** Whether the contract at Permit2's address is Permit2: it returns the domain separator that its code computes. */
async function isPermit2Deployed(rpc: Rpc, chainId: number): Promise<boolean> {
  const answer = await readContract(rpc, permit2Address, {
    abi: signingAbi,
    functionName: 'DOMAIN_SEPARATOR',
  });
  const parameters = [
    { type: 'bytes32' },
    { type: 'bytes32' },
    { type: 'uint256' },
    { type: 'address' },
  ] as const;
  const values = [
    hashOfText(permit2DomainType),
    hashOfText('Permit2'),
    BigInt(chainId),
    permit2Address,
  ] as const;
  return answer === keccak256(encodeAbiParameters(parameters, values));
}

/** The differences between a token's signature methods and its configuration, as one sentence; undefined without any. */
export function signingProblem(token: Token, signing: TokenSigning): string | undefined {
  const { permits: expected, tokenId, address } = token;
  if (expected === undefined) return undefined;
  const found = permitKinds.filter((kind) => signing.permits.has(kind));
  if (found.join() === permitKinds.filter((kind) => expected.includes(kind)).join()) return undefined;
  return (
    `${tokenId}: the contract at ${address} takes the signatures ${found.join(', ') || 'of no kind'}, the configuration ` +
    `says ${expected.join(', ') || 'none'}: correct permits, or omit it`
  );
}
