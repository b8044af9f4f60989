import { Undo2 } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const refundsScreen: Screen = {
  path: 'refunds',
  title: 'Refunds',
  icon: Undo2,
  group: 'main',
  permission: 'refunds:read',
  words: 'return money back sign wallet',
  load: () => import('./refunds.tsx'),
  pages: { $refundId: () => import('./refund.tsx') },
};
