import { elementOf } from '../checkout/dom.ts';
import { announceWallet } from '../checkout/wallet.ts';
import { demoWallet } from './demo-wallet.ts';

/** Only pages of local worlds have this script: it announces their wallet for visitors without one. */
const { demoPayer, demoName } = elementOf('demo').dataset;
announceWallet(demoWallet(demoPayer ?? '', demoName ?? ''));
