import { BookCheck } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const booksScreen: Screen = {
  path: 'books',
  title: 'Books',
  icon: BookCheck,
  group: 'money',
  words: 'ledger chain difference reconcile',
  load: () => import('./books.tsx'),
};
