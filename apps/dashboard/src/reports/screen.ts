import { FileSpreadsheet } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const reportsScreen: Screen = {
  path: 'reports',
  title: 'Reports',
  icon: FileSpreadsheet,
  group: 'business',
  permission: 'reports:read',
  words: 'accounting bookkeeping month sums fees settlements statement print csv json export download',
  load: () => import('./reports.tsx'),
  pages: { statement: () => import('./statement.tsx') },
};
