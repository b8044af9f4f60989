import { formatUnits } from 'viem';
import { ActRefused, type ActWorld, type PerformAct, type PlacedToken, tokenOf } from './act-world.ts';
import { callOf, readView, sendAs } from './chain-call.ts';

interface Blocklist {
  readonly add: string;
  readonly remove: string;
  readonly has: string;
}

/** The names that issuers give to the functions of their blocklists. A token that is not here has none, and no pause. */
const blocklists: ReadonlyMap<string, Blocklist> = new Map([
  ['USDC', { add: 'blacklist', remove: 'unBlacklist', has: 'isBlacklisted' }],
  ['USDT', { add: 'addBlackList', remove: 'removeBlackList', has: 'isBlackListed' }],
]);

const blocklistOf = ({ token }: PlacedToken): Blocklist => {
  const found = blocklists.get(token.symbol);
  if (found !== undefined) return found;
  const others = [...blocklists.keys()].join(' or ');
  throw new ActRefused(`${token.tokenId} has neither a blocklist nor a pause: choose ${others}.`);
};

export const blocklist: PerformAct = async (world, { argument, undo }) => {
  const place = tokenOf(world, argument);
  const names = blocklistOf(place);
  const { chain, token } = place;
  const { merchant, admin } = world.roles;
  const call = callOf(token.address, undo === true ? names.remove : names.add, [merchant.address]);
  const transaction = await sendAs(chain, admin, call);
  return {
    did: `The merchant’s wallet is ${undo === true ? 'no longer ' : ''}on the blocklist of ${token.tokenId}.`,
    facts: { wallet: merchant.address, transaction },
  };
};

export const pauseToken: PerformAct = async (world, { argument, undo }) => {
  const place = tokenOf(world, argument);
  blocklistOf(place);
  const { chain, token } = place;
  const call = callOf(token.address, undo === true ? 'unpause' : 'pause', []);
  const transaction = await sendAs(chain, world.roles.admin, call);
  return {
    did: `${token.tokenId} ${undo === true ? 'can be transferred again' : 'cannot be transferred'}.`,
    facts: { contract: token.address, transaction },
  };
};

export const emptyVault: PerformAct = async (world, { argument, undo }) => {
  const { chain, vault, token } = tokenOf(world, argument);
  const { admin } = world.roles;
  const holder = undo === true ? admin.address : vault;
  const amount = (await readView(chain, token.address, 'balanceOf', [holder])) as bigint;
  if (amount === 0n)
    throw new ActRefused(
      undo === true
        ? `The vault was not emptied of ${token.tokenId}.`
        : `The vault has no ${token.tokenId} already.`,
    );
  const call =
    undo === true
      ? callOf(token.address, 'transfer', [vault, amount])
      : callOf(vault, 'withdraw', [token.address, admin.address, amount]);
  const transaction = await sendAs(chain, admin, call);
  const text = `${formatUnits(amount, token.decimals)} ${token.symbol}`;
  return {
    did:
      undo === true
        ? `The vault of ${chain.name} has ${text} again.`
        : `Took ${text} out of the vault of ${chain.name}.`,
    facts: { vault, transaction },
  };
};

/** The acts on tokens that last now, as `name token`: they are on the chain and outlive a restart of the world. */
export const lastingTokenActs = async (world: ActWorld): Promise<string[]> => {
  const places = world.manifest.chains.flatMap(({ tokens }) =>
    tokens.map(({ tokenId }) => tokenOf(world, tokenId)),
  );
  const found = await Promise.all(places.map((place) => lastingOn(world, place)));
  return found.flat();
};

const lastingOn = async ({ roles }: ActWorld, place: PlacedToken): Promise<string[]> => {
  const { chain, vault, token } = place;
  const names = blocklists.get(token.symbol);
  const read = (functionName: string, args: readonly unknown[]): Promise<unknown> =>
    readView(chain, token.address, functionName, args);
  const states = {
    blocklist: names !== undefined && (await read(names.has, [roles.merchant.address])) === true,
    'pause-token': names !== undefined && (await read('paused', [])) === true,
    'empty-vault': (await read('balanceOf', [vault])) === 0n,
  };
  return Object.entries(states).flatMap(([name, isOn]) => (isOn ? [`${name} ${token.tokenId}`] : []));
};
