import type { WorldActReport } from '@florin/cli/world-act';
import type { Anvil } from '../anvil.ts';
import type { WorldRoles } from '../home.ts';
import type { WorldManifest } from '../world-config.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/** The parts of a running world on which acts work. */
export interface ActWorld {
  readonly manifest: WorldManifest;
  readonly roles: WorldRoles;
  readonly chains: readonly Anvil[];
  readonly receiver: WebhookReceiver;
  /** Seconds by which the world's time is ahead of the machine's. */
  readonly clockOffsetSeconds: () => number;
  /** Moves the clocks of the service and of the chains, and returns once they show the new time. */
  readonly advance: (seconds: number) => Promise<void>;
  /** Kills the service's process and returns its pid. */
  readonly killService: () => number;
  /** Begins the reset, and returns before it happens. */
  readonly reset: () => void;
}

/** What is asked of an act. */
export interface ActRequest {
  /** The act's argument as it was typed: a session, a chain, a token, or a number. */
  readonly argument?: string;
  readonly chain?: string;
  readonly token?: string;
  readonly undo?: boolean;
}

/** What an act did; its watch text is in the catalogue. */
export type ActResult = Omit<WorldActReport, 'watch'>;

export type PerformAct = (world: ActWorld, request: ActRequest) => Promise<ActResult>;

/** An act that the world does not perform; the message says why, and what to change. */
export class ActRefused extends Error {
  override readonly name = 'ActRefused';
}

const DEFAULT_CHAIN = 'base';

/** The chain of this name, or the merchant's usual one. */
export const chainOf = ({ chains }: ActWorld, name: string | undefined): Anvil => {
  const chain = chains.find((candidate) => candidate.name === (name ?? DEFAULT_CHAIN));
  if (chain === undefined)
    throw new ActRefused(
      `There is no chain ${name}: choose ${chains.map((each) => each.name).join(' or ')}.`,
    );
  return chain;
};

/** A token of the world and its chain. */
export interface PlacedToken {
  readonly chain: Anvil;
  readonly vault: `0x${string}`;
  readonly token: WorldManifest['chains'][number]['tokens'][number];
}

/** The token of this id, such as `base::usdc`, which is the default. */
export const tokenOf = (world: ActWorld, tokenId = `${DEFAULT_CHAIN}::usdc`): PlacedToken => {
  const places = world.manifest.chains.flatMap(({ name, vault, tokens }) =>
    tokens.map((token) => ({ chain: chainOf(world, name), vault, token })),
  );
  const found = places.find(({ token }) => token.tokenId === tokenId);
  if (found === undefined)
    throw new ActRefused(
      `There is no token ${tokenId}: choose ${places.map(({ token }) => token.tokenId).join(', ')}.`,
    );
  return found;
};

/** A whole number of an argument. */
export const countIn = (
  text: string | undefined,
  { name, most, fallback }: { readonly name: string; readonly most: number; readonly fallback?: number },
): number => {
  const count = text === undefined ? fallback : /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
  if (count === undefined || count < 1 || count > most)
    throw new ActRefused(`The ${name} must be a whole number from 1 to ${most}.`);
  return count;
};
