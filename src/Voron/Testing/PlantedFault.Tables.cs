namespace Voron.Testing;

/// <content>The faults of tables.</content>
internal static partial class PlantedFault
{
    /// <summary>An update of a row keeps the index keys that the row no longer has.</summary>
    public static readonly bool LeaveOldIndexKeys = Is(nameof(LeaveOldIndexKeys));

    /// <summary>The id of the last row is given out again after the row has been deleted.</summary>
    public static readonly bool ReuseRowId = Is(nameof(ReuseRowId));

    /// <summary>Unique keys are looked up after the row has been written.</summary>
    public static readonly bool CheckUniqueTooLate = Is(nameof(CheckUniqueTooLate));

    /// <summary>Rows that are inserted together remain when one of them is refused.</summary>
    public static readonly bool KeepRowOfViolation = Is(nameof(KeepRowOfViolation));

    /// <summary>Writers do not maintain the keys of rows below the cursor of an index that is being built.</summary>
    public static readonly bool SkipRowsBelowCursor = Is(nameof(SkipRowsBelowCursor));

    /// <summary>An index is ready before its last slice has been built.</summary>
    public static readonly bool ReadyBeforeLastSlice = Is(nameof(ReadyBeforeLastSlice));

    /// <summary>The cursor of an index that is being built does not move past the last row whose keys a step has added.</summary>
    public static readonly bool MoveCursorAlone = Is(nameof(MoveCursorAlone));

    /// <summary>An index that is built from sorted keys keeps those that a row had before a writer changed it.</summary>
    public static readonly bool KeepKeysOfChangedRows = Is(nameof(KeepKeysOfChangedRows));

    /// <summary>The commit that makes a sorted index ready leaves out the rows that writers have changed last.</summary>
    public static readonly bool ForgetLastChanges = Is(nameof(ForgetLastChanges));

    /// <summary>A query takes the first bytes of a key or a value for a row id, however many there are.</summary>
    public static readonly bool BelieveRowIds = Is(nameof(BelieveRowIds));

    /// <summary>A query that looks up many rows together returns the expired ones.</summary>
    public static readonly bool ReturnExpiredRows = Is(nameof(ReturnExpiredRows));

    /// <summary>A deleted row remains in the index of expiry times.</summary>
    public static readonly bool LeaveExpiryKeys = Is(nameof(LeaveExpiryKeys));

    /// <summary>Rows get ids in a shared index that do not identify their table.</summary>
    public static readonly bool AddWithoutMember = Is(nameof(AddWithoutMember));

    /// <summary>A table that joins a shared index gets a number that another table has had there.</summary>
    public static readonly bool ReuseMember = Is(nameof(ReuseMember));

    /// <summary>When the ids of a table that has left a shared index are removed, those of the next table are removed as well.</summary>
    public static readonly bool RemoveNextMember = Is(nameof(RemoveNextMember));

    /// <summary>Expired rows block their unique keys for other rows.</summary>
    public static readonly bool BlockExpiredKeys = Is(nameof(BlockExpiredKeys));

    /// <summary>A transaction reads the clock each time that it opens a table whose rows expire.</summary>
    public static readonly bool ReadTimeAgain = Is(nameof(ReadTimeAgain));

    /// <summary>An evolution whose indexes cannot be built leaves the table with the version of the new definition.</summary>
    public static readonly bool KeepRaisedVersion = Is(nameof(KeepRaisedVersion));

    /// <summary>An evolution drops the indexes that its definition lacks, although the table has the same version.</summary>
    public static readonly bool DropAtSameVersion = Is(nameof(DropAtSameVersion));

    /// <summary>A query that runs while rows change returns rows again that were moved ahead of it.</summary>
    public static readonly bool MeetMovedRows = Is(nameof(MeetMovedRows));

    /// <summary>When existing rows get their expiry times, their heads remain unchanged.</summary>
    public static readonly bool LeaveHeadWithoutExpiry = Is(nameof(LeaveHeadWithoutExpiry));

    /// <summary>The definition of a deleted table whose rows expire is kept.</summary>
    public static readonly bool KeepDroppedDefinitions = Is(nameof(KeepDroppedDefinitions));

    /// <summary>A deletion by index starts again at the first key for each portion of rows.</summary>
    public static readonly bool RestartWalk = Is(nameof(RestartWalk));

    /// <summary>A deletion by index that meets a damaged page leaves a transaction that can still be committed.</summary>
    public static readonly bool CommitPartOfDeletion = Is(nameof(CommitPartOfDeletion));

    /// <summary>The first opening for writing compares no rows with the indexes.</summary>
    public static readonly bool BelieveIndexFunctions = Is(nameof(BelieveIndexFunctions));

    /// <summary>A query continues at a token of another table, index or direction.</summary>
    public static readonly bool BelieveTokens = Is(nameof(BelieveTokens));

    /// <summary>A transaction gives a row the same versions that the previous transaction has given it.</summary>
    public static readonly bool ReuseRowVersions = Is(nameof(ReuseRowVersions));
}
