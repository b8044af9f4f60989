import { Package } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const productsScreen: Screen = {
  path: 'products',
  title: 'Products',
  icon: Package,
  group: 'sell',
  permission: 'products:read',
  words: 'catalogue catalog items prices archive',
  load: () => import('./products.tsx'),
  pages: { $productId: () => import('./products.tsx') },
};
