/** What the local world executes for the command line: the plan of a deployment, and acts. */

export {
  type Artifact,
  type CctpSettings,
  create2Deployer,
  type PlannedContract,
  planContract,
  planContracts,
} from './contract-plan.ts';
export { type WorldAct, type WorldActReport, worldActs } from './world-act.ts';
