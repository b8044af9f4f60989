import { auditScreen } from '../audit/screen.ts';
import { brandingScreen } from '../branding/screen.ts';
import { eventsScreen } from '../events/screen.ts';
import { exceptionsScreen } from '../exceptions/screen.ts';
import { homeScreen } from '../home/screen.ts';
import { keysScreen } from '../keys/screen.ts';
import { linksScreen } from '../links/screen.ts';
import { backlogScreen } from '../operator/backlog/screen.ts';
import { booksScreen } from '../operator/books/screen.ts';
import { chainsScreen } from '../operator/chains/screen.ts';
import { configurationScreen } from '../operator/configuration/screen.ts';
import { allExceptionsScreen } from '../operator/exceptions/screen.ts';
import { fundsScreen } from '../operator/funds/screen.ts';
import { healthScreen } from '../operator/health/screen.ts';
import { mailsScreen } from '../operator/mails/screen.ts';
import { merchantsScreen } from '../operator/merchants/screen.ts';
import { settlementsScreen } from '../operator/settlements/screen.ts';
import { staffScreen } from '../operator/staff/screen.ts';
import { tokensScreen } from '../operator/tokens/screen.ts';
import { paymentsScreen } from '../payments/screen.ts';
import { productsScreen } from '../products/screen.ts';
import { refundsScreen } from '../refunds/screen.ts';
import { reportsScreen } from '../reports/screen.ts';
import { settingsScreen } from '../settings/screen.ts';
import { teamScreen } from '../team/screen.ts';
import { walletsScreen } from '../wallets/screen.ts';
import { webhooksScreen } from '../webhooks/screen.ts';
import type { Screen } from './screen.ts';

/** All screens of a merchant, in the order of the navigation. A new screen is a folder and a line here. */
export const screens: readonly Screen[] = [
  homeScreen,
  paymentsScreen,
  refundsScreen,
  exceptionsScreen,
  linksScreen,
  productsScreen,
  brandingScreen,
  walletsScreen,
  webhooksScreen,
  eventsScreen,
  keysScreen,
  teamScreen,
  reportsScreen,
  auditScreen,
  settingsScreen,
];

/** The operator's screens, in the order of the navigation. */
export const operatorScreens: readonly Screen[] = [
  healthScreen,
  chainsScreen,
  settlementsScreen,
  fundsScreen,
  booksScreen,
  tokensScreen,
  merchantsScreen,
  allExceptionsScreen,
  backlogScreen,
  mailsScreen,
  configurationScreen,
  staffScreen,
];
