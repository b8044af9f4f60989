/** The plan of a deployment, which the local world executes like `florin deploy`. */

export {
  type Artifact,
  type CctpSettings,
  create2Deployer,
  type PlannedContract,
  planContract,
  planContracts,
} from './contract-plan.ts';
