import { toast } from './toast.tsx';

/** Copies a text, and says so. */
export function copyText(text: string, said: string): void {
  void navigator.clipboard.writeText(text).then(() => toast(said));
}
