// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICctpRoute} from "../../src/interfaces/ICctpRoute.sol";
import {IERC20} from "../../src/interfaces/IERC20.sol";

/// @notice A CCTP route that burns honestly, by sending to nobody, until it is told to do otherwise.
contract HostileRoute is ICctpRoute {
    enum Mode {
        Honest,
        Reverts,
        RevertsWithBomb,
        BurnsGas,
        TakesNothing,
        TakesLess,
        TakesAndRefuses,
        Gives,
        CallsBack
    }

    address public constant NOBODY = address(0xdead);
    uint256 private constant BOMB_SIZE = 1_000_000;

    Mode public mode;
    address private _target;
    bytes private _data;
    bool public succeeded;
    bytes4 public failure;
    /// @notice What each order has sent to whom.
    mapping(bytes32 orderId => mapping(address to => mapping(uint64 targetChain => uint256))) public sent;

    function set(Mode mode_) external {
        mode = mode_;
    }

    function arm(address target, bytes calldata data) external {
        (mode, _target, _data) = (Mode.CallsBack, target, data);
    }

    function send(bytes32 orderId, address token, uint256 amount, uint64 targetChain, address to) external {
        if (mode == Mode.Reverts) revert("hostile");
        if (mode == Mode.RevertsWithBomb) {
            assembly ("memory-safe") {
                revert(0, BOMB_SIZE)
            }
        }
        if (mode == Mode.BurnsGas) {
            for (uint256 i = 0;; ++i) {
                sent[bytes32(i)][to][targetChain] += 0;
            }
        }
        if (mode == Mode.TakesNothing) return;
        if (mode == Mode.Gives) {
            IERC20(token).transfer(msg.sender, 1);
            return;
        }
        if (mode == Mode.TakesLess) amount -= 1;
        if (mode == Mode.CallsBack) {
            bytes memory answer;
            (succeeded, answer) = _target.call(_data);
            if (answer.length >= 4) failure = bytes4(answer);
        }
        // USDT answers nothing, so the answer is not decoded.
        (bool moved,) = token.call(abi.encodeCall(IERC20.transferFrom, (msg.sender, NOBODY, amount)));
        require(moved, "the token refused");
        sent[orderId][to][targetChain] += amount;
        if (mode == Mode.TakesAndRefuses) {
            assembly ("memory-safe") {
                mstore(0, 0)
                return(0, 0x20)
            }
        }
    }
}
