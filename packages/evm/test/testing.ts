/** Local chains, nodes that lie, and statements that move a chain by hand, for the tests of others. */

export { setOutcomes } from '../src/sender/sender.sql.ts';
export { moveBackfill } from '../src/watcher/recovery.sql.ts';
export { type Anvil, startTestAnvil } from './anvil.ts';
export { type Faults, type Lie, type LyingRpc, startLyingRpc } from './lying-rpc.ts';
