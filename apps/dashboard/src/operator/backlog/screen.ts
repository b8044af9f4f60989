import { Webhook } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const backlogScreen: Screen = {
  path: 'backlog',
  title: 'Webhook backlog',
  icon: Webhook,
  group: 'merchants',
  words: 'deliveries paused overdue',
  load: () => import('./backlog.tsx'),
};
