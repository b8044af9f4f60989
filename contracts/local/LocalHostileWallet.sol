// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A smart account that answers a question about a signature as its mode says; in one mode rightly, for anyone.
contract LocalHostileWallet {
    enum Mode {
        Accept,
        Revert,
        BurnGas,
        Flood,
        TwoWords,
        FourBytes,
        DirtyWord,
        True,
        Nothing,
        EvenBlocks,
        Trap
    }

    Mode private immutable MODE;

    constructor(Mode mode) {
        MODE = mode;
    }

    fallback() external {
        Mode mode = MODE;
        uint256 size = 32;
        if (mode == Mode.Flood) size = 900_000;
        if (mode == Mode.TwoWords) size = 64;
        if (mode == Mode.FourBytes) size = 4;
        if (mode == Mode.Nothing || (mode == Mode.EvenBlocks && block.number % 2 == 1)) size = 0;
        bytes32 answer = bytes32(bytes4(0x1626ba7e));
        if (mode == Mode.DirtyWord) answer |= bytes32(uint256(1));
        if (mode == Mode.True) answer = bytes32(uint256(1));
        while (mode == Mode.BurnGas) continue;
        assembly {
            mstore(0, answer)
            if eq(mode, 10) { invalid() }
            if eq(mode, 1) { revert(0, 32) }
            return(0, size)
        }
    }
}
