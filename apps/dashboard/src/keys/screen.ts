import { KeyRound } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const keysScreen: Screen = {
  path: 'keys',
  title: 'API keys',
  icon: KeyRound,
  group: 'develop',
  permission: 'keys:read',
  words: 'secret restricted token access permissions',
  load: () => import('./keys.tsx'),
};
