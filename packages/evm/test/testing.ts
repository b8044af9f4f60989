/** Local chains and nodes that lie, for the tests of others. */

export { type Anvil, startTestAnvil } from './anvil.ts';
export { type Faults, type Lie, type LyingRpc, startLyingRpc } from './lying-rpc.ts';
