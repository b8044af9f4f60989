// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface ITransferHook {
    function onTransfer(address from, address to, uint256 amount) external;
}

/// @notice A token that turns on its users when told to. It starts honest, so that a test can pay first.
contract HostileToken {
    enum Mode {
        Honest,
        TakesFee,
        ReturnsFalse,
        ReturnsTwo,
        ReturnsOneByte,
        ReturnsZeroByte,
        MovesAndReturnsFalse,
        LiesAboutMoving,
        DeliversTooMuch,
        Robs,
        ChargesSender,
        Reverts,
        RevertsWithBomb,
        AnswersWithBomb,
        BurnsGas,
        CallsBefore,
        CallsAfter
    }

    uint256 private constant BOMB_SIZE = 1_000_000;

    Mode public mode;
    /// @notice Whom the mode meets: a transfer to anyone else is honest. Zero is everyone.
    address public victim;
    ITransferHook public hook;
    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    function set(Mode mode_, address victim_) external {
        (mode, victim) = (mode_, victim_);
    }

    function setHook(ITransferHook hook_) external {
        hook = hook_;
    }

    function mint(address to, uint256 amount) external returns (bool) {
        balanceOf[to] += amount;
        return true;
    }

    /// @notice What a rebase does to one holder.
    function rebase(address owner, uint256 amount) external {
        balanceOf[owner] = amount;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _move(from, to, amount);
    }

    /// @notice EIP-3009 without a check of the signature: what the payer would have agreed to.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32,
        uint8,
        bytes32,
        bytes32
    ) external returns (bool) {
        return _move(from, to, value);
    }

    /// @notice The same, with the signature as bytes.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32,
        bytes calldata
    ) external returns (bool) {
        return _move(from, to, value);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        Mode current = victim == address(0) || victim == to ? mode : Mode.Honest;
        if (current == Mode.ReturnsFalse) return false;
        if (current == Mode.ReturnsTwo) _answer(2, 32);
        if (current == Mode.ReturnsOneByte) _answer(1 << 248, 1);
        if (current == Mode.ReturnsZeroByte) _answer(0, 1);
        if (current == Mode.LiesAboutMoving) return true;
        if (current == Mode.Robs) {
            balanceOf[to] = 0;
            return true;
        }
        if (current == Mode.Reverts) revert("hostile");
        if (current == Mode.RevertsWithBomb) {
            assembly ("memory-safe") {
                revert(0, BOMB_SIZE)
            }
        }
        if (current == Mode.BurnsGas) {
            for (uint256 i = 0;; ++i) {
                balanceOf[address(uint160(i))] += 0;
            }
        }
        if (current == Mode.CallsBefore) hook.onTransfer(from, to, amount);
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        if (current == Mode.TakesFee) balanceOf[to] -= amount / 100 + 1;
        if (current == Mode.DeliversTooMuch) balanceOf[to] += 1;
        if (current == Mode.ChargesSender) balanceOf[from] -= 1;
        if (current == Mode.CallsAfter) hook.onTransfer(from, to, amount);
        if (current == Mode.AnswersWithBomb) _answer(1, BOMB_SIZE);
        return current != Mode.MovesAndReturnsFalse;
    }

    function _answer(uint256 word, uint256 size) private pure {
        assembly ("memory-safe") {
            mstore(0, word)
            return(0, size)
        }
    }
}
