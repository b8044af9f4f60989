import { drillRecovery } from './drill.ts';

drillRecovery('pgbackrest');
