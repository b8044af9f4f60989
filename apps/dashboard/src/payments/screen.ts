import { CreditCard } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const paymentsScreen: Screen = {
  path: 'payments',
  title: 'Payments',
  icon: CreditCard,
  group: 'main',
  permission: 'sessions:read',
  words: 'sessions transactions search export csv',
  load: () => import('./payments.tsx'),
  pages: { $sessionId: () => import('./payment.tsx') },
};
