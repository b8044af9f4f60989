// The stories of the dashboard share one service and one browser, and go on where the one before ended.
import './dashboard-owner.ts';
import './dashboard-looks.ts';
import './dashboard-acts.ts';
// From here on a chain is halted.
import './dashboard-operator.ts';
import './dashboard-shop.ts';
import './dashboard-access.ts';
