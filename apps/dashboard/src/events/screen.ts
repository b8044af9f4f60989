import { Radio } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const eventsScreen: Screen = {
  path: 'events',
  title: 'Events',
  icon: Radio,
  group: 'develop',
  permission: 'events:read',
  words: 'log what happened json body',
  load: () => import('./events.tsx'),
};
