import { auditScreen } from '../audit/screen.ts';
import { eventsScreen } from '../events/screen.ts';
import { homeScreen } from '../home/screen.ts';
import { keysScreen } from '../keys/screen.ts';
import { linksScreen } from '../links/screen.ts';
import { paymentsScreen } from '../payments/screen.ts';
import { productsScreen } from '../products/screen.ts';
import { settingsScreen } from '../settings/screen.ts';
import { teamScreen } from '../team/screen.ts';
import { walletsScreen } from '../wallets/screen.ts';
import { webhooksScreen } from '../webhooks/screen.ts';
import type { Screen } from './screen.ts';

/** All screens of a merchant, in the order of the navigation. A new screen is a folder and a line here. */
export const screens: readonly Screen[] = [
  homeScreen,
  paymentsScreen,
  linksScreen,
  productsScreen,
  walletsScreen,
  webhooksScreen,
  eventsScreen,
  keysScreen,
  teamScreen,
  auditScreen,
  settingsScreen,
];
