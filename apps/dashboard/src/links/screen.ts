import { Link2 } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const linksScreen: Screen = {
  path: 'links',
  title: 'Links',
  icon: Link2,
  group: 'sell',
  permission: 'payment_links:read',
  words: 'payment links qr code share embed',
  load: () => import('./links.tsx'),
  pages: { $linkId: () => import('./link.tsx') },
};
