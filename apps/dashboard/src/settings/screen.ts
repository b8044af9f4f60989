import { Settings as SettingsIcon } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const settingsScreen: Screen = {
  path: 'settings',
  title: 'Settings',
  icon: SettingsIcon,
  group: 'business',
  words: 'shop name address api theme leave',
  load: () => import('./settings.tsx'),
};
