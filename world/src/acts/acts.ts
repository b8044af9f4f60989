import { type WorldAct, type WorldActReport, worldActs } from '@florin/cli/world-act';
import {
  ActRefused,
  type ActRequest,
  type ActWorld,
  chainOf,
  type PerformAct,
  tokenOf,
} from './act-world.ts';
import { gasSpike, halt, lyingNode, outage, reorg, slowFinality } from './chain-acts.ts';
import { double, late, overpay, pay, signRefund, underpay, wrongToken } from './payment-acts.ts';
import { advance, failWebhooks, hangWebhooks, killWorker, reset } from './service-acts.ts';
import { blocklist, emptyVault, lastingTokenActs, pauseToken } from './token-acts.ts';

const acts: Readonly<Record<string, PerformAct>> = {
  pay,
  underpay,
  overpay,
  late,
  double,
  'wrong-token': wrongToken,
  'sign-refund': signRefund,
  reorg,
  outage,
  halt,
  'slow-finality': slowFinality,
  'lying-node': lyingNode,
  'gas-spike': gasSpike,
  blocklist,
  'pause-token': pauseToken,
  'empty-vault': emptyVault,
  advance,
  'fail-webhooks': failWebhooks,
  'hang-webhooks': hangWebhooks,
  'kill-worker': killWorker,
  reset,
};

/** Performs acts one after the other, since they share the world's wallets. */
export class ActQueue {
  readonly #world: ActWorld;
  #last: Promise<unknown> = Promise.resolve();

  constructor(world: ActWorld) {
    this.#world = world;
  }

  /** Performs one act; throws ActRefused for a request that the world cannot perform. */
  perform(name: string, request: ActRequest): Promise<WorldActReport> {
    const done = this.#last.then(() => perform(this.#world, name, request));
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** The acts that last now, as `name subject`. */
  async lasting(): Promise<string[]> {
    const { chains, receiver } = this.#world;
    const ofChains = chains.flatMap(({ name, faults }) => [
      ...(faults.isUnreachable ? [`outage ${name}`] : []),
      ...(faults.isHalted ? [`halt ${name}`] : []),
      ...(faults.heldFinalBlock === undefined ? [] : [`slow-finality ${name}`]),
      ...(faults.isLying ? [`lying-node ${name}`] : []),
      ...(faults.isFeeHeld ? [`gas-spike ${name}`] : []),
    ]);
    const ofReceiver = receiver.mode === 'accept' ? [] : [`${receiver.mode}-webhooks`];
    return [...ofChains, ...(await lastingTokenActs(this.#world)), ...ofReceiver];
  }
}

const perform = async (world: ActWorld, name: string, request: ActRequest): Promise<WorldActReport> => {
  const known = worldActs.find((candidate) => candidate.name === name);
  const act = acts[name];
  if (known === undefined || act === undefined)
    throw new ActRefused(`There is no act ${name}: choose ${worldActs.map((each) => each.name).join(', ')}.`);
  checkRequest(world, known, request);
  const result = await act(world, request);
  return { ...result, watch: (request.undo === true ? known.watchUndone : undefined) ?? known.watch };
};

/** Refuses what an act does not take, so that no wish is ignored. */
const checkRequest = (world: ActWorld, act: WorldAct, { argument, chain, token, undo }: ActRequest): void => {
  if (undo === true && act.watchUndone === undefined)
    throw new ActRefused(`${act.name} cannot be undone: it does not last.`);
  if (argument === undefined && act.argument?.isRequired === true)
    throw new ActRefused(`${act.name} needs its ${act.argument.subject}.`);
  if (argument !== undefined && act.argument === undefined)
    throw new ActRefused(`${act.name} takes no argument.`);
  if (chain !== undefined && act.option !== 'chain') throw new ActRefused(`${act.name} takes no --chain.`);
  if (token !== undefined && act.option !== 'token') throw new ActRefused(`${act.name} takes no --token.`);
  if (chain !== undefined) chainOf(world, chain);
  if (token !== undefined) tokenOf(world, token);
};
