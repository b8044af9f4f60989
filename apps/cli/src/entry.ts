/** The plan of a deployment, which the local world carries out as `florin deploy` does. */

export {
  type Artifact,
  type CctpSettings,
  create2Deployer,
  type PlannedContract,
  planContract,
  planContracts,
} from './contract-plan.ts';
